//! Changes one by one.

use crate::lang::diagnostic::counted;
use std::io::{self, BufRead, Write};

use super::{
    Compared,
    human::{judgement, title},
};
use crate::cli::{escape::Shown, failure::Failure, world::World};

/// Asks about each change; which are taken. What is not answered is not taken. `store` keeps what is
/// taken so far after each answer that takes something: the next one may never come.
pub(super) fn ask(
    found: &Compared,
    world: &World,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
    store: &mut dyn FnMut(&[bool]) -> Result<(), Failure>,
) -> Result<Vec<bool>, Failure> {
    let all = found.shifts.len();
    let mut taken = vec![false; all];
    if all == 0 {
        writeln!(out, "{}, all judged as before", counted(found.new.rows.len(), "error"))?;
    }
    for (at, shift) in found.shifts.iter().enumerate() {
        let change = &shift.change;
        writeln!(out, "\n{} of {all}: {}", at + 1, Shown(&change.id))?;
        if !shift.message.is_empty() {
            writeln!(out, "  {}", shift.message)?;
        }
        match (&change.old, &change.new) {
            (Some(old), Some(new)) => {
                writeln!(out, "  was {}\n  is  {}", judgement(old), judgement(new))?;
            }
            (old, new) => writeln!(out, "  {}", title(&(old.clone(), new.clone()), world.stdout_colour()))?,
        }
        match answer(input, out)? {
            Answer::Take => {
                taken.iter_mut().skip(at).take(1).for_each(|taken| *taken = true);
                store(&taken)?;
            }
            Answer::Leave => {}
            Answer::All => {
                taken.iter_mut().skip(at).for_each(|taken| *taken = true);
                store(&taken)?;
                break;
            }
            Answer::Quit => break,
        }
    }
    Ok(taken)
}

enum Answer {
    Take,
    Leave,
    All,
    Quit,
}

fn answer(input: &mut dyn BufRead, out: &mut dyn Write) -> io::Result<Answer> {
    loop {
        write!(out, "take it? [y]es, [n]o, [a]ll from here, [q]uit: ")?;
        out.flush()?;
        let mut said = String::new();
        if input.read_line(&mut said)? == 0 {
            return Ok(Answer::Quit);
        }
        match said.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(Answer::Take),
            "n" | "no" => return Ok(Answer::Leave),
            "a" | "all" => return Ok(Answer::All),
            "q" | "quit" => return Ok(Answer::Quit),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::{
        cli::snapshot::Shift,
        verify::snapshot::{Change, Judgement, Snapshot},
    };

    fn answers(said: &str) -> (Vec<bool>, String) {
        let mut out = Vec::new();
        let taken = ask(&found(), &World::real(), &mut said.as_bytes(), &mut out, &mut |_| Ok(())).unwrap();
        (taken, String::from_utf8(out).unwrap())
    }

    fn found() -> Compared {
        let judgement = |bucket: &str| Judgement {
            bucket: bucket.into(),
            rule: None,
            action: "none".into(),
            then: "surface".into(),
            reset: None,
        };
        let shift = |id: &str| Shift {
            change: Change { id: id.into(), old: Some(judgement("x")), new: Some(judgement("y")) },
            message: "slow\u{1b}".escape_debug().to_string(),
        };
        Compared {
            old: Snapshot::default(),
            new: Snapshot::default(),
            shifts: ["a", "b", "c"].map(shift).into(),
            unreadable: 0,
        }
    }

    #[test]
    fn what_is_taken_is_stored_before_the_next_question() {
        let mut stored = Vec::new();
        let mut store = |taken: &[bool]| {
            stored.push(taken.to_vec());
            Ok(())
        };
        // The third answer never comes: the terminal is gone, or the process is.
        let mut input = io::BufReader::new("y\nn\n".as_bytes().chain(Gone));
        let ended = ask(&found(), &World::real(), &mut input, &mut Vec::new(), &mut store);
        assert!(ended.is_err());
        assert_eq!(stored, [[true, false, false]]);
    }

    struct Gone;

    impl io::Read for Gone {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("gone"))
        }
    }

    #[test]
    fn each_answer_does_what_it_says() {
        assert_eq!(answers("y\nn\ny\n").0, [true, false, true]);
        assert_eq!(answers("n\na\n").0, [false, true, true]);
        assert_eq!(answers("y\nq\n").0, [true, false, false]);
        assert_eq!(answers("Yes\n").0, [true, false, false], "the end of the input is a quit");
        let (taken, said) = answers("what\ny\nq\n");
        assert_eq!(taken, [true, false, false]);
        assert_eq!(said.matches("take it?").count(), 3, "asked again: {said}");
        assert!(said.contains("1 of 3: a") && said.contains("was x no rule, surface"), "{said}");
    }
}
