//! How one message travels on its stream: a four-byte length, the bytes, and a one-byte answer.

use libp2p::StreamProtocol;
use libp2p::futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use libp2p::request_response::Codec;
use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The name that is negotiated on each stream.
pub(crate) const PROTOCOL: StreamProtocol = StreamProtocol::new("/tetralith/ceremony/1");

/// The bytes of one message, shared because one message goes to many; wiped after the last of them.
///
/// A direct message of a key generation holds a share.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Frame(Arc<Zeroizing<Vec<u8>>>);

impl From<Vec<u8>> for Frame {
    fn from(bytes: Vec<u8>) -> Self {
        Frame(Arc::new(Zeroizing::new(bytes)))
    }
}

impl core::ops::Deref for Frame {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl core::fmt::Debug for Frame {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Frame({} bytes)", self.len())
    }
}

/// Memory that a message gets before any of it has arrived.
const FIRST_READ: usize = 4 << 10;

/// What the receiver of a message answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ack {
    /// The message is in the receiver's queue.
    Queued = 0,
    /// The receiver's queue is full; the message was dropped.
    Busy = 1,
}

/// Reads and writes messages of bounded length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameCodec {
    most_bytes: usize,
}

impl FrameCodec {
    /// Refuses messages longer than `most_bytes`.
    pub(crate) fn new(most_bytes: usize) -> Self {
        FrameCodec { most_bytes }
    }
}

impl Codec for FrameCodec {
    type Protocol = StreamProtocol;
    type Request = Frame;
    type Response = Ack;

    /// Not cancel safe: a part of the stream may have been read.
    async fn read_request<T>(&mut self, _: &StreamProtocol, io: &mut T) -> Result<Frame>
    where
        T: AsyncRead + Unpin + Send,
    {
        let mut length = [0; 4];
        io.read_exact(&mut length).await?;
        let length = u32::from_be_bytes(length) as usize;
        if length > self.most_bytes {
            let reason = format!("message of {length} bytes, at most {}", self.most_bytes);
            return Err(Error::new(ErrorKind::InvalidData, reason));
        }
        // Memory grows with what arrives, not with what was announced; what it outgrew is wiped.
        let mut bytes = Zeroizing::new(vec![0; length.min(FIRST_READ)]);
        let mut read = 0;
        loop {
            io.read_exact(&mut bytes[read..]).await?;
            read = bytes.len();
            if read == length {
                return Ok(Frame(Arc::new(bytes)));
            }
            let mut larger = Zeroizing::new(vec![0; length.min(2 * read)]);
            larger[..read].copy_from_slice(&bytes);
            bytes = larger;
        }
    }

    /// Not cancel safe: a part of the stream may have been read.
    async fn read_response<T>(&mut self, _: &StreamProtocol, io: &mut T) -> Result<Ack>
    where
        T: AsyncRead + Unpin + Send,
    {
        let mut byte = [0];
        io.read_exact(&mut byte).await?;
        match byte[0] {
            0 => Ok(Ack::Queued),
            1 => Ok(Ack::Busy),
            other => Err(Error::new(ErrorKind::InvalidData, format!("answer {other}"))),
        }
    }

    /// Not cancel safe: a part of the message may have been written.
    async fn write_request<T>(&mut self, _: &StreamProtocol, io: &mut T, frame: Frame) -> Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        let length = u32::try_from(frame.len()).map_err(|_| ErrorKind::InvalidInput)?;
        io.write_all(&length.to_be_bytes()).await?;
        io.write_all(&frame).await
    }

    /// Not cancel safe: the byte may or may not have been written.
    async fn write_response<T>(&mut self, _: &StreamProtocol, io: &mut T, ack: Ack) -> Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        io.write_all(&[ack as u8]).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libp2p::futures::executor::block_on;
    use libp2p::futures::io::Cursor;

    fn read(bytes: &[u8]) -> Result<Frame> {
        block_on(FrameCodec::new(8).read_request(&PROTOCOL, &mut Cursor::new(bytes)))
    }

    #[test]
    fn what_is_written_is_read() {
        let mut stream = Cursor::new(Vec::new());
        let frame = Frame::from(b"message".to_vec());
        block_on(FrameCodec::new(8).write_request(&PROTOCOL, &mut stream, frame.clone())).unwrap();
        assert_eq!(read(stream.get_ref()).unwrap(), frame);
    }

    /// Longer than what a message gets at first, so that its memory grows while it arrives.
    #[test]
    fn a_long_message_is_read_whole() {
        let message: Vec<u8> = (0..3 * FIRST_READ + 1).map(|i| i as u8).collect();
        let stream = [&(message.len() as u32).to_be_bytes()[..], &message].concat();
        let mut codec = FrameCodec::new(message.len());
        let read = |codec: &mut FrameCodec, bytes: &[u8]| {
            block_on(codec.read_request(&PROTOCOL, &mut Cursor::new(bytes)))
        };
        assert_eq!(read(&mut codec, &stream).unwrap()[..], message[..]);
        let short = read(&mut codec, &stream[..stream.len() - 1]).unwrap_err();
        assert_eq!(short.kind(), ErrorKind::UnexpectedEof);
    }

    /// A message that is sealed, and one that is read, leaves nothing of itself in freed memory.
    #[test]
    fn a_message_is_wiped() {
        use crate::identity::Identity;
        use crate::wire::{Body, CeremonyId, Envelope, Message};
        use tetralith_kernels::freed::Freed;
        let identity = Identity::from_seed(&[1; 32]);
        let secret = crate::identity::domain_hash("test", &[b"a secret"]);
        let mut freed = Freed::default();
        // What stands for the network is not watched.
        let mut stream = Cursor::new(Vec::with_capacity(1 << 10));
        freed.watch(|| {
            let body = Body::Done(secret.into());
            let frame: Frame =
                Envelope::seal(&identity, CeremonyId([2; 32]), None, 0, &body).into();
            let mut codec = FrameCodec::new(1 << 10);
            block_on(codec.write_request(&PROTOCOL, &mut stream, frame)).unwrap();
            stream.set_position(0);
            let frame = block_on(codec.read_request(&PROTOCOL, &mut stream)).unwrap();
            assert!(Envelope::open(&frame).is_ok());
            // A direct message of a protocol, and one whose signature is wrong.
            stream.set_position(0);
            let message = Message { start: [3; 32].into(), bytes: secret.to_vec().into() };
            let body = Body::Protocol(message);
            let sealed = Envelope::seal(&identity, CeremonyId([2; 32]), None, 1, &body);
            let mut forged = zeroize::Zeroizing::new(sealed.clone());
            *forged.last_mut().unwrap() ^= 1;
            let frame: Frame = sealed.into();
            block_on(codec.write_request(&PROTOCOL, &mut stream, frame)).unwrap();
            stream.set_position(0);
            let frame = block_on(codec.read_request(&PROTOCOL, &mut stream)).unwrap();
            let received = Envelope::open(&frame).unwrap();
            assert_eq!(received.body, body);
            assert!(Envelope::open(&forged).is_err());
        });
        assert_eq!(freed.found(&[("the message".into(), secret.to_vec())]), Vec::<String>::new());
    }

    #[test]
    fn malformed_streams_are_refused() {
        let cases: [(&str, &[u8], ErrorKind); 4] = [
            ("empty", &[], ErrorKind::UnexpectedEof),
            ("short length", &[0, 0, 0], ErrorKind::UnexpectedEof),
            ("short message", &[0, 0, 0, 2, 1], ErrorKind::UnexpectedEof),
            ("oversized", &[0, 0, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9], ErrorKind::InvalidData),
        ];
        for (name, bytes, kind) in cases {
            assert_eq!(read(bytes).unwrap_err().kind(), kind, "{name}");
        }
        let answer = block_on(FrameCodec::new(8).read_response(&PROTOCOL, &mut Cursor::new([7])));
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::InvalidData);
    }
}
