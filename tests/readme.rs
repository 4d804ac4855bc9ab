//! What the README says of the code.

use crate::support::root;

#[test]
fn the_readme_shows_the_whole_of_the_smallest_example() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let (readme, example) = (read("README.md"), read("examples/embed.rs"));
    let code = &example[example.find("use std::").unwrap()..];
    assert!(
        readme.contains(&format!("```rust\n{code}```\n")),
        "README.md does not show examples/embed.rs as it is"
    );
}
