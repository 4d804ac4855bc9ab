//! The same pass with several workers, for inputs that are long: a reader cuts the input into chunks
//! of whole lines, workers judge them, and the answers are written in order.
//!
//! Chunks go to the workers in turn and are taken from them in the same turn, so that order needs no
//! book-keeping. Each channel holds one chunk, and nothing is read while one of very long lines is judged,
//! so that memory is bounded. What a read has brought is passed on before the next one, which may block: a
//! live log is answered as it comes.

use std::{
    io::{self, Read, Write},
    num::NonZero,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

use crate::cli::{
    failure::Failure,
    lines::{Line, Lines, Stop},
};

/// So many bytes of lines go to a worker at once.
const CHUNK: usize = 64 * 1024;

/// Only one chunk of more bytes than this is there at a time.
const LARGE: usize = 512 * 1024;

/// More workers than this would wait for the reader.
const MOST: usize = 4;

/// How often an idle worker looks whether it is still needed.
const PATIENCE: Duration = Duration::from_millis(50);

/// How many workers this machine has room for; none when one is all.
pub(super) fn workers() -> Option<usize> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    (cores > 1).then_some(cores.min(MOST))
}

/// Some lines in a row.
#[derive(Default)]
struct Chunk {
    /// Number of the first line.
    first: u64,
    bytes: Vec<u8>,
    /// Where each line ends, and whether that is all of it.
    ends: Vec<(usize, bool)>,
    /// Tells by its end that the chunk is gone.
    held: Option<SyncSender<()>>,
}

impl Chunk {
    fn push(&mut self, line: &Line<'_>) {
        if self.ends.is_empty() {
            self.first = line.number;
        }
        self.bytes.extend_from_slice(line.bytes);
        self.ends.push((self.bytes.len(), line.whole));
    }

    /// What ends when the chunk is gone.
    fn gone(&mut self) -> Receiver<()> {
        let (held, gone) = sync_channel(0);
        self.held = Some(held);
        gone
    }

    fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let mut start = 0;
        (self.first..).zip(&self.ends).map(move |(number, (end, whole))| {
            let bytes = self.bytes.get(start..*end).unwrap_or_default();
            start = *end;
            Line { number, bytes, whole: *whole }
        })
    }
}

/// What a worker has made of a chunk.
pub(super) struct Answered {
    /// The number of its last line.
    pub(super) last: u64,
    /// The answers as they are written.
    pub(super) text: Vec<u8>,
    /// Every line could be read.
    pub(super) fine: bool,
}

type Outcome<T> = Result<T, io::Error>;

/// Judges the rest of the input. `judge` makes the work of one worker: it appends the answer to a line
/// and says whether the line could be read. `written` hears of every chunk before it is written.
///
/// # Errors
/// When the input cannot be read, or the answers cannot be written.
pub(super) fn run<W: FnMut(&Line<'_>, &mut Vec<u8>) -> io::Result<bool>>(
    lines: Lines<Box<dyn Read + Send>>,
    workers: usize,
    judge: impl Fn() -> W + Sync,
    unreadable: impl Fn(io::Error) -> Failure,
    mut written: impl FnMut(&Answered),
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let mut inputs = Vec::with_capacity(workers);
        let mut outputs = Vec::with_capacity(workers);
        for _ in 0..workers {
            let (input, chunks) = sync_channel(1);
            let (answers, output) = sync_channel(1);
            inputs.push(input);
            outputs.push(output);
            let (judge, stop) = (&judge, &stop);
            scope.spawn(move || work(judge(), &chunks, &answers, stop));
        }
        read(lines, inputs);
        let done = write(&outputs, &unreadable, &mut written, out);
        stop.store(true, Ordering::Relaxed);
        done
    })
}

/// Reads on a thread that nobody waits for: when the answers go nowhere any more, a read that never
/// returns must not keep the process.
#[expect(clippy::disallowed_methods, reason = "the command line is a driver")]
fn read(mut lines: Lines<Box<dyn Read + Send>>, inputs: Vec<SyncSender<Outcome<Chunk>>>) {
    thread::spawn(move || {
        let mut turns = inputs.iter().cycle();
        let mut chunk = Chunk::default();
        let mut send = |mut what: Outcome<Chunk>| {
            let gone = what.as_mut().ok().filter(|chunk| chunk.bytes.len() > LARGE).map(Chunk::gone);
            let sent = turns.next().is_some_and(|input| input.send(what).is_ok());
            if let Some(gone) = gone {
                let _ = gone.recv();
            }
            if sent { Ok(()) } else { Err(io::Error::from(io::ErrorKind::BrokenPipe)) }
        };
        loop {
            if chunk.bytes.len() >= CHUNK && send(Ok(std::mem::take(&mut chunk))).is_err() {
                return;
            }
            let next = lines
                .next(|| if chunk.ends.is_empty() { Ok(()) } else { send(Ok(std::mem::take(&mut chunk))) });
            match next {
                Ok(Some(line)) => chunk.push(&line),
                Ok(None) => break,
                // Nobody takes chunks any more.
                Err(Stop::Hook(_)) => return,
                Err(Stop::Input(error)) => {
                    let _ = send(Err(error));
                    return;
                }
            }
        }
        // The last line may have no line break: it came after the last read.
        if !chunk.ends.is_empty() {
            let _ = send(Ok(chunk));
        }
    });
}

fn work(
    mut judge: impl FnMut(&Line<'_>, &mut Vec<u8>) -> io::Result<bool>,
    chunks: &Receiver<Outcome<Chunk>>,
    answers: &SyncSender<Outcome<Answered>>,
    stop: &AtomicBool,
) {
    loop {
        let chunk = match chunks.recv_timeout(PATIENCE) {
            Ok(chunk) => chunk,
            Err(RecvTimeoutError::Timeout) if !stop.load(Ordering::Relaxed) => continue,
            Err(_) => return,
        };
        let answered = chunk.and_then(|chunk| {
            let mut done = Answered { last: chunk.first, text: Vec::with_capacity(CHUNK), fine: true };
            for line in chunk.lines() {
                done.fine &= judge(&line, &mut done.text)?;
                done.last = line.number;
            }
            let Chunk { bytes, held, .. } = chunk;
            drop(bytes);
            drop(held);
            Ok(done)
        });
        if answers.send(answered).is_err() {
            return;
        }
    }
}

/// Writes the answers in the order of their lines.
fn write(
    outputs: &[Receiver<Outcome<Answered>>],
    unreadable: &impl Fn(io::Error) -> Failure,
    written: &mut impl FnMut(&Answered),
    out: &mut dyn Write,
) -> Result<(), Failure> {
    for output in outputs.iter().cycle() {
        // Whose turn it is has no more: nobody has.
        let Ok(answered) = output.recv() else { break };
        let answered = answered.map_err(unreadable)?;
        written(&answered);
        out.write_all(&answered.text)?;
        out.flush()?;
    }
    Ok(())
}
