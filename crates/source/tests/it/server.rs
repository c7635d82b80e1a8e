//! A server of HTTP that does what it is told, wrong things included.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What is served under a name.
pub struct Served {
    pub content: Vec<u8>,
    pub etag: Option<&'static str>,
    pub has_ranges: bool,
    /// Whether `If-Match` is heeded.
    pub heeds_matches: bool,
    /// What goes wrong with a request, by how many there were before it.
    pub fault: fn(usize) -> Fault,
    /// What it is from a request on.
    pub later: Option<(usize, Vec<u8>, &'static str)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// No content, but this.
    Status(u16),
    /// The connection is closed after so many bytes of content.
    Cut(usize),
    /// Before an answer is told.
    CutAtOnce,
    /// A little at a time.
    Slow,
}

impl Served {
    pub fn new(content: impl Into<Vec<u8>>) -> Served {
        let content = content.into();
        let fault = |_| Fault::None;
        let (etag, later) = (Some("\"one\""), None);
        Served { content, etag, has_ranges: true, heeds_matches: true, fault, later }
    }
}

/// Content that was sent.
#[derive(Clone, Debug)]
pub struct Sent {
    pub range: Range<usize>,
}

#[derive(Default)]
struct State {
    served: Mutex<BTreeMap<String, Arc<(Served, AtomicUsize)>>>,
    sent: Mutex<Vec<Sent>>,
    under_way: AtomicUsize,
    under_way_max: AtomicUsize,
}

pub struct Server {
    pub address: SocketAddr,
    state: Arc<State>,
}

impl Server {
    pub fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::<State>::default();
        let theirs = Arc::clone(&state);
        // It ends with the test.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let state = Arc::clone(&theirs);
                thread::spawn(move || stream.map(|stream| serve(&stream, &state)));
            }
        });
        Server { address, state }
    }

    /// The address of what is served under a name.
    pub fn serve(&self, name: &str, served: Served) -> PathBuf {
        let path = format!("/{name}");
        self.state.served.lock().unwrap().insert(path, Arc::new((served, AtomicUsize::new(0))));
        format!("http://{}/{name}", self.address).into()
    }

    pub fn sent(&self) -> Vec<Sent> {
        self.state.sent.lock().unwrap().clone()
    }

    pub fn sent_bytes(&self) -> usize {
        self.sent().iter().map(|sent| sent.range.len()).sum()
    }

    /// The most requests that were answered at the same time.
    pub fn under_way_max(&self) -> usize {
        self.state.under_way_max.load(Ordering::Relaxed)
    }
}

/// Requests of one connection; an error is its end.
fn serve(stream: &TcpStream, state: &State) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    loop {
        let Some(first) = lines.next().transpose()? else { return Ok(()) };
        let mut headers = BTreeMap::new();
        for line in lines.by_ref() {
            let line = line?;
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.insert(name.to_ascii_lowercase(), value.to_string());
        }
        let target = first.split(' ').nth(1).unwrap_or_default();
        let path = target.split('?').next().unwrap_or_default().to_string();
        let under_way = 1 + state.under_way.fetch_add(1, Ordering::Relaxed);
        state.under_way_max.fetch_max(under_way, Ordering::Relaxed);
        let answered = answer(stream, state, &path, &headers);
        state.under_way.fetch_sub(1, Ordering::Relaxed);
        answered?;
    }
}

fn answer(
    stream: &TcpStream,
    state: &State,
    path: &str,
    headers: &BTreeMap<String, String>,
) -> std::io::Result<()> {
    let served = state.served.lock().unwrap().get(path).cloned();
    let Some(served) = served else { return status(stream, 404, "Not Found") };
    let (served, requests) = &*served;
    let nth = requests.fetch_add(1, Ordering::Relaxed);
    let (content, etag) = match &served.later {
        Some((from, content, etag)) if nth >= *from => (content, Some(*etag)),
        _ => (&served.content, served.etag),
    };
    let fault = (served.fault)(nth);
    match fault {
        Fault::Status(code) => return status(stream, code, "as it was told"),
        Fault::CutAtOnce => return stream.shutdown(std::net::Shutdown::Both),
        _ => {}
    }
    let wanted = headers.get("if-match").filter(|_| served.heeds_matches);
    if wanted.is_some_and(|wanted| Some(wanted.as_str()) != etag) {
        return status(stream, 412, "Precondition Failed");
    }
    let asked = headers.get("range").filter(|_| served.has_ranges).map(|range| {
        let (first, last) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
        let end = last.parse::<usize>().map_or(content.len(), |last| last + 1);
        first.parse().unwrap()..end.min(content.len())
    });
    if asked.as_ref().is_some_and(|range| range.start >= content.len()) {
        return status(stream, 416, "Range Not Satisfiable");
    }
    let (code, range) = asked.map_or((200, 0..content.len()), |range| (206, range));
    let mut head = format!("HTTP/1.1 {code} OK\r\nContent-Length: {}\r\n", range.len());
    if code == 206 {
        let Range { start, end } = range;
        head += &format!("Content-Range: bytes {start}-{}/{}\r\n", end - 1, content.len());
    }
    etag.iter().for_each(|etag| head += &format!("ETag: {etag}\r\n"));
    state.sent.lock().unwrap().push(Sent { range: range.clone() });
    send(stream, head + "\r\n", &content[range], fault)
}

fn send(mut stream: &TcpStream, head: String, body: &[u8], fault: Fault) -> std::io::Result<()> {
    stream.write_all(head.as_bytes())?;
    match fault {
        Fault::Cut(bytes) if bytes < body.len() => {
            stream.write_all(&body[..bytes])?;
            stream.shutdown(std::net::Shutdown::Both)
        }
        Fault::Slow => body.chunks(body.len().div_ceil(20).max(1)).try_for_each(|part| {
            thread::sleep(Duration::from_millis(5));
            stream.write_all(part)
        }),
        _ => stream.write_all(body),
    }
}

fn status(mut stream: &TcpStream, code: u16, why: &str) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 {code} {why}\r\nContent-Length: {}\r\n\r\n{why}", why.len())
}
