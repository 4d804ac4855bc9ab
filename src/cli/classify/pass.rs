//! One pass over the input: read a line, judge it, write the answer.

use std::io::{self, Read, Write};

use super::{human::Human, pipeline};
use crate::{
    classify::Scratch,
    cli::{
        answer::{self, Answers},
        failure::Failure,
        input::Input,
        jsonl,
        lines::{Line, Lines, Stop},
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

/// An input of more bytes than this is worth several workers.
const LONG: usize = 512 * 1024;

/// What stands for a line that names no provider, and no model.
type Defaults<'a> = (Option<&'a str>, Option<&'a str>);

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

    /// Every line of the input. `defaults` stand for lines that name none.
    pub(super) fn lines(
        &mut self,
        input: Input,
        raw: bool,
        defaults: Defaults<'_>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let (reader, unreadable) = input.into_parts();
        let mut lines = Lines::new(reader);
        let mut progress = Progress::new(self.world, "lines");
        // What is recorded, and what a table counts, is gathered in one place.
        let alone = self.record.is_some() || matches!(self.sink, Sink::Human(_));
        let workers = pipeline::workers().filter(|_| !alone);
        let mut taken = 0;
        loop {
            if taken > LONG
                && let Some(workers) = workers
            {
                self.sink.write(out)?;
                return self.rest(lines, workers, raw, defaults, &mut progress, unreadable, out);
            }
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
            taken += line.bytes.len();
            progress.at(line.number);
            self.line(&line, raw, defaults, out)?;
        }
    }

    /// The rest of a long input, by several workers.
    #[expect(clippy::too_many_arguments, reason = "all of what `lines` was doing")]
    fn rest(
        &mut self,
        lines: Lines<Box<dyn Read + Send>>,
        workers: usize,
        raw: bool,
        defaults: Defaults<'_>,
        progress: &mut Progress<'_>,
        unreadable: impl Fn(io::Error) -> Failure,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let (table, now, world) = (self.table, self.now, self.world);
        let judge = || {
            let mut pass = Pass::new(table, now, false, world, None);
            move |line: &Line<'_>, text: &mut Vec<u8>| {
                pass.fine = true;
                pass.line(line, raw, defaults, text)?;
                pass.sink.write(text)?;
                Ok(pass.fine)
            }
        };
        let mut fine = true;
        let mut seen = 0;
        let written = |answered: &pipeline::Answered| {
            fine &= answered.fine;
            (seen + 1..=answered.last).for_each(|line| progress.at(line));
            seen = answered.last;
        };
        let done = pipeline::run(lines, workers, judge, unreadable, written, out);
        self.fine &= fine;
        done
    }

    fn line(
        &mut self,
        line: &Line<'_>,
        raw: bool,
        (provider, model): Defaults<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if line.bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        // The check alone is faster than the mending, and nearly always enough.
        let text = std::str::from_utf8(line.bytes)
            .map_or_else(|_| String::from_utf8_lossy(line.bytes), std::borrow::Cow::Borrowed);
        if raw {
            let signal = SignalRef { provider, model, message: Some(&text), ..SignalRef::default() };
            return self.answer(None, line.number, signal, out);
        }
        match jsonl::read_line(line, &text) {
            Ok(parsed) => {
                let mut signal = parsed.signal();
                signal.provider = signal.provider.or(provider);
                signal.model = signal.model.or(model);
                self.answer(parsed.id, line.number, signal, out)
            }
            Err(error) => self.error(line.number, &error, out),
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
