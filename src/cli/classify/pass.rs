//! One pass over the input: read a line, judge it, write the answer.

use std::io::{self, Write};

use super::human::Human;
use crate::{
    classify::Scratch,
    cli::{
        answer::{self, Answers},
        failure::Failure,
        input::Input,
        jsonl,
        lines::{Lines, Stop},
        progress::Progress,
        world::World,
    },
    host::Recorder,
    signal::{Signal, SignalRef},
    state::{sqlite::SqliteStore, store::StoreError},
    table::Table,
    time::Timestamp,
};

/// Answers are written out when this much has come together.
const FULL: usize = 64 * 1024;

/// Judges errors and writes the answers.
pub(super) struct Pass<'t> {
    table: &'t Table,
    scratch: Scratch,
    now: Option<Timestamp>,
    world: &'t World,
    sink: Sink<'t>,
    record: Option<Record>,
    fine: bool,
}

/// Where errors are kept, with `--record`.
struct Record {
    recorder: Recorder,
    store: SqliteStore,
}

impl Record {
    fn store(&mut self) -> Result<(), StoreError> {
        self.recorder.flush(&self.store)
    }
}

/// Where answers go.
enum Sink<'t> {
    Json { answers: Answers<'t>, buffer: Vec<u8> },
    Human(Box<Human<'t>>),
}

impl<'t> Pass<'t> {
    /// `now` is the clock of lines that bring none; `store` keeps what no rule matched.
    pub(super) fn new(
        table: &'t Table,
        now: Option<Timestamp>,
        human: bool,
        world: &'t World,
        store: Option<SqliteStore>,
    ) -> Self {
        let sink = if human {
            Sink::Human(Box::new(Human::new(table, world)))
        } else {
            Sink::Json { answers: Answers::new(table), buffer: Vec::with_capacity(FULL + 4096) }
        };
        let record = store.map(|store| Record { recorder: Recorder::new(), store });
        Self { table, scratch: Scratch::default(), now, world, sink, record, fine: true }
    }

    /// One error.
    pub(super) fn one(&mut self, signal: &Signal, out: &mut dyn Write) -> io::Result<()> {
        self.answer(None, 1, signal.as_ref(), out)
    }

    /// Every line of the input. `provider` and `model` stand for lines that name none.
    pub(super) fn lines(
        &mut self,
        input: Input,
        raw: bool,
        (provider, model): (Option<&str>, Option<&str>),
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let (reader, unreadable) = input.into_parts();
        let mut lines = Lines::new(reader);
        let mut progress = Progress::new(self.world, "lines");
        loop {
            // A read may wait for the next error of a live log: what is known is shown first.
            let told = |record: &mut Option<Record>, sink: &mut Sink<'t>, out: &mut dyn Write| {
                if let Some(record) = record {
                    // What cannot be stored now may be at the end.
                    drop(record.store());
                }
                sink.write(out).and_then(|()| out.flush())
            };
            let line = match lines.next(|| told(&mut self.record, &mut self.sink, out)) {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(()),
                Err(Stop::Hook(error)) => return Err(error.into()),
                Err(Stop::Input(error)) => return Err(unreadable(error)),
            };
            progress.at(line.number);
            if line.bytes.trim_ascii().is_empty() {
                continue;
            }
            // The check alone is faster than the mending, and nearly always enough.
            let text = std::str::from_utf8(line.bytes)
                .map_or_else(|_| String::from_utf8_lossy(line.bytes), std::borrow::Cow::Borrowed);
            if raw {
                let signal = SignalRef { provider, model, message: Some(&text), ..SignalRef::default() };
                self.answer(None, line.number, signal, out)?;
                continue;
            }
            match jsonl::read_line(&line, &text) {
                Ok(parsed) => {
                    let mut signal = parsed.signal();
                    signal.provider = signal.provider.or(provider);
                    signal.model = signal.model.or(model);
                    self.answer(parsed.id, line.number, signal, out)?;
                }
                Err(error) => self.error(line.number, &error, out)?,
            }
        }
    }

    /// Writes what is left; whether every line could be read.
    pub(super) fn finish(mut self, out: &mut dyn Write) -> Result<bool, Failure> {
        self.sink.write(out)?;
        if let Sink::Human(human) = &mut self.sink {
            human.finish(out)?;
        }
        if let Some(record) = &mut self.record {
            record.store()?;
        }
        Ok(self.fine)
    }

    fn answer(
        &mut self,
        id: Option<&serde_json::value::RawValue>,
        line: u64,
        mut signal: SignalRef<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let now = signal.received_at.or(self.now).unwrap_or_else(|| self.world.now());
        signal.received_at = Some(now);
        let verdict = self.table.classify(&signal, &mut self.scratch);
        if let Some(record) = &mut self.record {
            record.recorder.judged(self.table, &signal, &verdict, &self.scratch, now);
        }
        match &mut self.sink {
            Sink::Json { answers, buffer } => {
                answers.push(buffer, id, &verdict, now);
                if buffer.len() >= FULL { self.sink.write(out) } else { Ok(()) }
            }
            Sink::Human(human) => human.row(id, line, &verdict, self.scratch.evidence(), now, out),
        }
    }

    fn error(&mut self, line: u64, error: &str, out: &mut dyn Write) -> io::Result<()> {
        self.fine = false;
        match &mut self.sink {
            Sink::Json { buffer, .. } => {
                answer::push_error(buffer, line, error);
                Ok(())
            }
            Sink::Human(human) => human.error(line, error, out),
        }
    }
}

impl Sink<'_> {
    fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Json { buffer, .. } => {
                out.write_all(buffer)?;
                buffer.clear();
                Ok(())
            }
            Self::Human(human) => human.flush(out),
        }
    }
}
