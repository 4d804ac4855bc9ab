//! Entries as people and programs read them.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::{
    cli::{
        escape::Shown,
        table::{Cell, Style, Table},
        world::World,
    },
    state::inbox::{BYTES, ENTRIES, Entry, Inbox},
};

pub(super) fn list(inbox: &Inbox, world: &World, out: &mut dyn Write) -> io::Result<()> {
    let colour = world.stdout_colour();
    let mut entries: Vec<&Entry> = inbox.entries.iter().collect();
    entries.sort_by_key(|entry| (entry.last_at, entry.id));
    let mut table = Table::new(&["n", "times", "last", "provider", "status", "error"], world.width, colour);
    for entry in entries {
        let sample = &entry.sample;
        table.row(
            vec![
                Cell::plain(entry.id.to_string()),
                Cell::plain(entry.count.to_string()),
                Cell::styled(entry.last_at.to_string(), Style::Dim),
                Cell::plain(Shown(sample.provider.as_deref().unwrap_or("-")).to_string()),
                Cell::plain(sample.status.map_or_else(|| "-".to_owned(), |status| status.to_string())),
                Cell::plain(Shown(text(entry)).to_string()),
            ],
            out,
        )?;
    }
    table.flush(out)?;
    if inbox.entries.is_empty() {
        world.say("the inbox is empty; hosts and `classify --record` put errors there that no rule matched");
    }
    if inbox.dropped > 0 {
        let limit = BYTES >> 20;
        world.say(&format!(
            "{} dropped to keep within {ENTRIES} entries and {limit} MiB, those not seen for longest first",
            inbox.dropped
        ));
    }
    Ok(())
}

/// What says most of the error in one line.
fn text(entry: &Entry) -> &str {
    let sample = &entry.sample;
    let texts = [&sample.message, &sample.code, &sample.error_type].into_iter().flatten();
    texts.chain(&sample.details).map(|text| text.trim()).find(|text| !text.is_empty()).unwrap_or("-")
}

pub(super) fn entry(entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
    let sample = &entry.sample;
    let status = sample.status.map(|status| status.to_string());
    let fields = [
        ("provider", sample.provider.as_deref()),
        ("model", sample.model.as_deref()),
        ("status", status.as_deref()),
        ("code", sample.code.as_deref()),
        ("type", sample.error_type.as_deref()),
        ("param", sample.param.as_deref()),
        ("message", sample.message.as_deref()),
    ];
    writeln!(out, "entry    {} ({})", entry.id, Shown(&entry.bucket))?;
    writeln!(out, "times    {}, from {} to {}", entry.count, entry.first_at, entry.last_at)?;
    for (name, value) in fields {
        if let Some(value) = value {
            writeln!(out, "{name:8} {}", Shown(value))?;
        }
    }
    for detail in &sample.details {
        writeln!(out, "detail   {}", Shown(detail))?;
    }
    for (name, value) in &sample.headers {
        writeln!(out, "header   {}: {}", Shown(name), Shown(value))?;
    }
    writeln!(out, "same as  {}", Shown(&entry.fingerprint))
}

/// An entry as `classify` reads it, with its number as the id.
pub(super) fn line(entry: &Entry) -> Value {
    let mut value = serde_json::to_value(&entry.sample).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("id".to_owned(), json!(entry.id));
        fields.insert("count".to_owned(), json!(entry.count));
        fields.insert("receivedAt".to_owned(), json!(entry.last_at.to_string()));
    }
    value
}

/// An entry with all that is kept of it.
pub(super) fn json(entry: &Entry) -> Value {
    json!({
        "id": entry.id,
        "bucket": entry.bucket,
        "count": entry.count,
        "firstAt": entry.first_at.to_string(),
        "lastAt": entry.last_at.to_string(),
        "fingerprint": entry.fingerprint,
        "sample": entry.sample,
    })
}
