//! Real servers for tests: started in a folder of their own, ended when they are dropped.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A program of the path, or of Debian's folder for PostgreSQL.
fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    let found = folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("this test needs {name}, which .ci/test-tools installs"))
}

/// A port of the loopback interface that was free just now.
fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

fn wait_for(what: &str, mut ready: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !ready() {
        assert!(Instant::now() < end, "{what} does not answer");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

/// A PostgreSQL server. It does not run as root: where the test does, it runs as the user `postgres`.
pub(crate) struct Postgres {
    folder: tempfile::TempDir,
    pub(crate) port: u16,
    as_user: Vec<String>,
    child: Option<Child>,
}

impl Postgres {
    pub(crate) fn start() -> Self {
        Self::start_with(&[], &[])
    }

    /// Starts with lines added to `postgresql.conf`, and with files in the folder of the server's data.
    pub(crate) fn start_with(settings: &[&str], files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let id = |of: &str, user: &[&str]| -> u32 {
            let out = Command::new("id").arg(of).args(user).output().unwrap().stdout;
            String::from_utf8(out).unwrap().trim().parse().expect("the user postgres")
        };
        let (mut as_user, mut owner) = (Vec::new(), (None, None));
        if id("-u", &[]) == 0 {
            owner = (Some(id("-u", &["postgres"])), Some(id("-g", &["postgres"])));
            std::os::unix::fs::chown(folder.path(), owner.0, owner.1).unwrap();
            as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
                .map(str::to_owned)
                .to_vec();
        }
        let mut server = Self { folder, port: free_port(), as_user, child: None };
        let data = server.data();
        let made = server
            .command("initdb")
            .args(["--no-sync", "-A", "trust", "-U", "tester", "-D"])
            .arg(&data)
            .stdout(Stdio::null())
            .status();
        assert!(made.unwrap().success(), "initdb");
        let mut lines = String::new();
        for line in settings {
            lines += &format!("{line}\n");
        }
        let mut file =
            std::fs::OpenOptions::new().append(true).open(data.join("postgresql.conf")).unwrap();
        file.write_all(lines.as_bytes()).unwrap();
        for (name, text) in files {
            let path = data.join(name);
            std::fs::write(&path, text).unwrap();
            std::os::unix::fs::chown(&path, owner.0, owner.1).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&path, mode).unwrap();
        }
        server.up();
        server
    }

    fn command(&self, name: &str) -> Command {
        let program = program(name);
        let mut command = match self.as_user.split_first() {
            None => Command::new(program),
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
        };
        command.current_dir(self.folder.path());
        command
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Starts the server, again where it was killed: then its last processes may still be ending.
    pub(crate) fn up(&mut self) {
        let port = self.port;
        wait_for("PostgreSQL", || {
            let ended = self.child.as_mut().is_none_or(|child| child.try_wait().unwrap().is_some());
            if ended {
                let mut command = self.command("postgres");
                command.arg("-D").arg(self.data()).arg("-k").arg(self.folder.path());
                command.args(["-c", "listen_addresses=127.0.0.1", "-p", &port.to_string()]);
                command.stdout(Stdio::null()).stderr(Stdio::null());
                self.child = Some(command.spawn().unwrap());
            }
            self.sql("postgres", "SELECT 1").is_some()
        });
    }

    /// Kills the server without a warning.
    pub(crate) fn kill(&mut self) {
        if let Some(child) = &mut self.child {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Makes a server that is down recover to another timeline, as when a standby is promoted.
    pub(crate) fn promote(&mut self) {
        let touched = self.command("touch").arg(self.data().join("recovery.signal")).status();
        assert!(touched.unwrap().success());
        self.up();
        wait_for("PostgreSQL, promoted", || {
            self.sql("postgres", "SELECT pg_is_in_recovery()").as_deref() == Some("f")
        });
    }

    /// A URL by the Unix socket.
    pub(crate) fn url(&self, database: &str) -> String {
        let folder = self.folder.path().display();
        format!("postgres://tester:secret@/{database}?host={folder}&port={}", self.port)
    }

    /// A URL by TCP, through any port.
    pub(crate) fn tcp_url(&self, port: u16) -> String {
        format!("postgres://tester:secret@127.0.0.1:{port}/postgres")
    }

    /// Runs a statement and returns what it prints.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> Option<String> {
        let mut command = self.command("psql");
        command.arg("-h").arg(self.folder.path()).args(["-p", &self.port.to_string()]);
        command.args(["-U", "tester", "-d", database, "-qAtX", "-v", "ON_ERROR_STOP=1", "-c", sql]);
        let out = command.stderr(Stdio::null()).output().unwrap();
        out.status.success().then(|| String::from_utf8(out.stdout).unwrap().trim().to_owned())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let Some(child) = &mut self.child else { return };
        // The server ends its other processes itself, if it is asked to.
        let id = child.id().to_string();
        let _ = Command::new("kill").args(["-QUIT", &id]).status();
        let end = Instant::now() + Duration::from_secs(5);
        while Instant::now() < end && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// An etcd server, a cluster of one.
pub(crate) struct Etcd {
    folder: tempfile::TempDir,
    pub(crate) port: u16,
    peers: u16,
    /// More arguments; with them it speaks TLS to its clients.
    tls: Vec<String>,
    child: Option<Child>,
}

impl Etcd {
    pub(crate) fn start() -> Self {
        Self::start_with(Vec::new())
    }

    /// Starts with the arguments that TLS to its clients takes.
    pub(crate) fn start_with(tls: Vec<String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Self { folder, port: free_port(), peers: free_port(), tls, child: None };
        server.up();
        server
    }

    pub(crate) fn up(&mut self) {
        let plain = self.tls.is_empty();
        let client = format!("http{}://127.0.0.1:{}", if plain { "" } else { "s" }, self.port);
        let peer = format!("http://127.0.0.1:{}", self.peers);
        let mut command = Command::new(program("etcd"));
        command.arg("--data-dir").arg(self.folder.path().join("data")).args(&self.tls);
        // The token makes the cluster's number, as it would for a cluster of another name.
        command.args(["--initial-cluster-token", &format!("test-{}", self.port)]);
        command.args(["--name", "test", "--initial-cluster", &format!("test={peer}")]);
        command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
        command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
        self.child = Some(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let port = self.port;
        let answers = || !plain || self.ask("kv/range", r#"{"key":"eA=="}"#).is_some();
        wait_for("etcd", || listens(port) && answers());
    }

    pub(crate) fn kill(&mut self) {
        if let Some(child) = &mut self.child {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("etcd://127.0.0.1:{}", self.port)
    }

    /// Sends a request to the gateway; nothing where it is refused.
    pub(crate) fn ask(&self, path: &str, body: &str) -> Option<String> {
        self.ask_as("", path, body)
    }

    /// The same with the token of a log-in.
    pub(crate) fn ask_as(&self, token: &str, path: &str, body: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        let mut head = format!("POST /v3/{path} HTTP/1.0\r\nContent-Length: {}\r\n", body.len());
        if !token.is_empty() {
            head += &format!("Authorization: {token}\r\n");
        }
        head += "\r\n";
        stream.write_all((head + body).as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        head.split_ascii_whitespace().nth(1).filter(|status| *status == "200")?;
        Some(body.to_owned())
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Passes connections on to a port, and cuts one when it is told to: after the server was sent what
/// holds a word, and before any answer to it.
pub(crate) struct Cutter {
    pub(crate) port: u16,
    armed: Arc<AtomicBool>,
}

impl Cutter {
    pub(crate) fn start(to: u16, word: &'static str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let armed = Arc::new(AtomicBool::new(false));
        let flag = armed.clone();
        // The thread ends with the test's process.
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                let (flag, muted) = (flag.clone(), Arc::new(AtomicBool::new(false)));
                let (back, front) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let mute = muted.clone();
                std::thread::spawn(move || forward(client, server, word, &flag, &mute));
                std::thread::spawn(move || answer(back, front, &muted));
            }
        });
        Self { port, armed }
    }

    /// Cuts the connection that next sends the word.
    pub(crate) fn arm(&self) {
        self.armed.store(true, Ordering::SeqCst);
    }
}

/// What the client says, until it is cut: then no answer goes back, and it ends when all was sent.
fn forward(
    mut client: TcpStream,
    mut server: TcpStream,
    word: &str,
    armed: &AtomicBool,
    muted: &AtomicBool,
) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = client.read(&mut buffer) {
        let bytes = &buffer[..count];
        let found = bytes.windows(word.len()).any(|window| window == word.as_bytes());
        if found && armed.swap(false, Ordering::SeqCst) {
            muted.store(true, Ordering::SeqCst);
            let _ = client.set_read_timeout(Some(Duration::from_millis(50)));
        }
        if server.write_all(bytes).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}

fn answer(mut server: TcpStream, mut client: TcpStream, muted: &AtomicBool) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = server.read(&mut buffer) {
        if !muted.load(Ordering::SeqCst) && client.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}

/// A child process that is killed when it is dropped.
pub(crate) struct Killed(pub(crate) Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
