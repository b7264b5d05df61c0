//! Decoding in a process of its own, whose memory and time are limited.
//!
//! The decoders of Parquet and Arrow believe what some headers state: a page that states 2 GiB is given
//! 2 GiB (arrow-rs issue 10734), and a footer's lists are given a hundred times their size (arrow-rs issue
//! 9874). A process that runs into its limit is stopped by the system; here it is only the process that
//! decodes, and the one that reads from it says what happened.
//!
//! The file is the worker's standard input, so that no name is opened twice. On its standard output it
//! writes frames: a letter, a length of four bytes, little-endian, and that many bytes.
//!
//! | letter | bytes |
//! |---|---|
//! | `T` | first: the number of rows, eight bytes, little-endian; all ones where it is unknown |
//! | `B` | a block |
//! | `E` | last: an error, in JSON |
//! | `Z` | last: nothing |

use crate::Column;
use crate::block::{Block, Part, Raw};
use crate::error::Error;
use crate::format::Format;
use crate::rows::{Parts, Rows};
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What a worker may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Its address space in bytes. Linux holds it; systems without `RLIMIT_AS` do not.
    pub memory: u64,
    /// The longest time between two blocks of rows.
    pub time: Duration,
}

impl Limits {
    /// 1 GiB, and 60 seconds.
    pub const STANDARD: Limits = Limits { memory: 1 << 30, time: Duration::from_secs(60) };
}

/// The exit code of a worker that took too long.
const SLOW: i32 = 124;
/// The longest frame. A block has at most a row more than a part's bytes.
const MAX_FRAME: u32 = 64 << 20;

/// Decodes standard input and writes frames to standard output, under limits that hold from now on for
/// the whole process. Nothing else may run in it.
///
/// # Errors
/// [`Error::Read`] or [`Error::Write`]: the limits cannot be set, or nobody reads. What is wrong with the
/// file is a frame and no error.
pub fn serve(format: Format, columns: &'static [Column], limits: Limits) -> Result<(), Error> {
    let input = standard_input()?;
    limit(limits)?;
    std::panic::set_hook(Box::new(|_| {})); // a decoder's panics are frames
    let clock: &'static Clock = Box::leak(Box::new(Clock::new()));
    std::thread::Builder::new()
        .spawn(move || clock.watch(limits.time))
        .map_err(|error| Error::Read(format!("starting a thread: {error}")))?;
    let mut output = BufWriter::new(std::io::stdout().lock());
    let last = frames(format, columns, input, clock, &mut output)?;
    match last {
        None => frame(&mut output, b'Z', &[])?,
        Some(fault) => {
            let fault = serde_json::to_vec(&fault).map_err(Error::write)?;
            frame(&mut output, b'E', &fault)?;
        }
    }
    output.flush().map_err(Error::write)
}

/// Writes all frames but the last. Says what is wrong with the file.
fn frames(
    format: Format,
    columns: &'static [Column],
    input: File,
    clock: &Clock,
    output: &mut impl Write,
) -> Result<Option<Error>, Error> {
    let mut rows = match clock.time(|| Rows::from_file(input, format, columns)) {
        Ok(rows) => rows,
        Err(fault) => return Ok(Some(fault)),
    };
    frame(output, b'T', &rows.total().unwrap_or(u64::MAX).to_le_bytes())?;
    let mut bytes = Vec::new();
    loop {
        match clock.time(|| rows.next_part().map(|part| part.map(Part::decode))) {
            Ok(None) => return Ok(None),
            Err(fault) => return Ok(Some(fault)),
            Ok(Some(block)) => {
                bytes.clear();
                block.encode(&mut bytes);
                frame(output, b'B', &bytes)?;
            }
        }
    }
}

fn frame(output: &mut impl Write, letter: u8, bytes: &[u8]) -> Result<(), Error> {
    output.write_all(&[letter]).map_err(Error::write)?;
    output.write_all(&(bytes.len() as u32).to_le_bytes()).map_err(Error::write)?;
    output.write_all(bytes).map_err(Error::write)
}

/// Standard input, from which a file's decoder reads wherever it wants.
fn standard_input() -> Result<File, Error> {
    #[cfg(unix)]
    {
        let input = std::os::fd::AsFd::as_fd(&std::io::stdin()).try_clone_to_owned();
        input.map(File::from).map_err(Error::read)
    }
    #[cfg(windows)]
    {
        let input =
            std::os::windows::io::AsHandle::as_handle(&std::io::stdin()).try_clone_to_owned();
        input.map(File::from).map_err(Error::read)
    }
    #[cfg(not(any(unix, windows)))]
    Err(Error::Read("this system has no processes".into()))
}

/// Limits this process's memory, and lets it leave no core file.
fn limit(limits: Limits) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let set = |resource, most: u64| {
            let most = getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
            setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
                .map_err(|error| Error::Read(format!("limiting the decoder: {error}")))
        };
        set(Resource::Core, 0)?;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        set(Resource::As, limits.memory)?;
    }
    let _ = limits;
    Ok(())
}

/// For how long the decoder has been at one block.
struct Clock {
    start: Instant,
    /// When it began, in milliseconds after `start`; [`IDLE`] while it does not decode.
    since: AtomicU64,
}

const IDLE: u64 = u64::MAX;

impl Clock {
    fn new() -> Clock {
        Clock { start: Instant::now(), since: AtomicU64::new(IDLE) }
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }

    fn time<T>(&self, job: impl FnOnce() -> T) -> T {
        self.since.store(self.now(), Ordering::Relaxed);
        let result = job();
        self.since.store(IDLE, Ordering::Relaxed);
        result
    }

    /// Ends the process when a block takes longer than `most`.
    fn watch(&self, most: Duration) {
        loop {
            std::thread::sleep(most.min(Duration::from_millis(100)));
            let since = self.since.load(Ordering::Relaxed);
            if since != IDLE && self.now().saturating_sub(since) > most.as_millis() as u64 {
                std::process::exit(SLOW);
            }
        }
    }
}

/// Rows from a worker.
pub struct Contained {
    child: Child,
    output: BufReader<ChildStdout>,
    format: Format,
    columns: usize,
    limits: Limits,
    total: Option<u64>,
    row: u64,
}

impl Contained {
    /// Starts a process, which calls [`serve`] with these limits, and reads `file` through it.
    ///
    /// # Errors
    /// It cannot be started, or what it says of the file.
    pub fn start(
        mut command: Command,
        file: File,
        format: Format,
        columns: &'static [Column],
        limits: Limits,
    ) -> Result<Rows, Error> {
        command.stdin(file).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| Error::Read(format!("starting the {format} decoder: {error}")))?;
        let output = child.stdout.take().ok_or_else(|| Error::read("the decoder has no output"))?;
        let output = BufReader::with_capacity(1 << 16, output);
        let (total, columns) = (None, columns.len());
        let mut rows = Contained { child, output, format, columns, limits, total, row: 1 };
        match rows.frame()? {
            (b'T', bytes) => {
                let total = bytes.try_into().map_or(u64::MAX, u64::from_le_bytes);
                rows.total = (total != u64::MAX).then_some(total);
                Ok(Rows::new(rows))
            }
            (_, bytes) => Err(rows.fault(&bytes)),
        }
    }

    fn frame(&mut self) -> Result<(u8, Vec<u8>), Error> {
        let mut head = [0; 5];
        self.read(&mut head)?;
        let [letter, length @ ..] = head;
        let length = u32::from_le_bytes(length);
        if length > MAX_FRAME {
            return Err(Error::Read(format!(
                "the decoder sent {length} bytes, at most {MAX_FRAME}"
            )));
        }
        let mut bytes = vec![0; length as usize];
        self.read(&mut bytes)?;
        Ok((letter, bytes))
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        match self.output.read_exact(bytes) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(self.stopped()),
            read => read.map_err(Error::read),
        }
    }

    fn fault(&self, bytes: &[u8]) -> Error {
        serde_json::from_slice(bytes).unwrap_or_else(|error| {
            Error::Read(format!("the {} decoder's answer: {error}", self.format))
        })
    }

    /// Why the process ended before it was done.
    fn stopped(&mut self) -> Error {
        let status = self.child.wait();
        let mut said = Vec::new();
        if let Some(errors) = &mut self.child.stderr {
            let _ = errors.take(1 << 12).read_to_end(&mut said);
        }
        let said = String::from_utf8_lossy(&said);
        let said = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let reason = match status {
            Ok(status) if status.code() == Some(SLOW) => {
                format!("no rows within {} s", self.limits.time.as_secs())
            }
            Ok(status) => {
                let (how, mebibytes) = (ended(status), self.limits.memory >> 20);
                match said {
                    "" => format!("it ended with {how}; its memory is limited to {mebibytes} MiB"),
                    said => format!("{said} ({how}); its memory is limited to {mebibytes} MiB"),
                }
            }
            Err(error) => error.to_string(),
        };
        Error::Stopped { format: self.format, row: self.row, reason }
    }
}

fn ended(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("signal {signal}");
    }
    status.code().map_or_else(|| "no exit code".into(), |code| format!("exit code {code}"))
}

impl Parts for Contained {
    fn total(&self) -> Option<u64> {
        self.total
    }

    fn next_part(&mut self) -> Result<Option<Part>, Error> {
        match self.frame()? {
            (b'B', bytes) => {
                let block = Block::decode(self.columns, &bytes)
                    .ok_or_else(|| Error::read("the decoder sent a block that is not readable"))?;
                self.row += block.len() as u64;
                Ok(Some(Part(Raw::Block(block))))
            }
            (b'Z', _) => Ok(None),
            (_, bytes) => Err(self.fault(&bytes)),
        }
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
