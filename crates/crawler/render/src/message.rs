//! Messages of the DevTools protocol over pipes: JSON, each ended by a NUL byte.

use serde_json::{Value, json};

/// Maximum length of one message. A DOM of 16 MiB takes at most about 100 MiB as JSON.
pub(crate) const MAX_MESSAGE: usize = 128 << 20;

/// A message of the browser.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// The reply to the call of this number.
    Reply {
        id: u64,
        result: Result<Value, String>,
    },
    /// An event of a session, or of the browser itself.
    Event(Event),
}

/// An event of the browser.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) method: String,
    pub(crate) session: Option<String>,
    pub(crate) params: Value,
}

/// Returns a call as bytes, the NUL included.
pub(crate) fn encode(id: u64, method: &str, params: &Value, session: Option<&str>) -> Vec<u8> {
    let mut message = json!({ "id": id, "method": method, "params": params });
    if let Some(session) = session {
        message["sessionId"] = session.into();
    }
    let mut bytes = message.to_string().into_bytes();
    bytes.push(0);
    bytes
}

/// Reads a message without its NUL. Returns `None` if it is neither a reply nor an event.
pub(crate) fn decode(bytes: &[u8]) -> Option<Incoming> {
    let mut message: Value = serde_json::from_slice(bytes).ok()?;
    if let Some(id) = message["id"].as_u64() {
        let result = match message.get("error") {
            Some(error) => Err(error["message"].as_str().unwrap_or("no reason").to_owned()),
            None => Ok(message["result"].take()),
        };
        return Some(Incoming::Reply { id, result });
    }
    Some(Incoming::Event(Event {
        method: message["method"].as_str()?.to_owned(),
        session: message["sessionId"].as_str().map(str::to_owned),
        params: message["params"].take(),
    }))
}

/// Bytes of a pipe, cut into messages.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    buffer: Vec<u8>,
    searched: usize,
}

impl Frames {
    /// Appends bytes from the pipe. Returns false if a message exceeds [`MAX_MESSAGE`].
    pub(crate) fn extend(&mut self, bytes: &[u8]) -> bool {
        self.buffer.extend_from_slice(bytes);
        self.buffer.len() <= MAX_MESSAGE
    }

    /// Removes the next whole message.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        let found = self.buffer[self.searched..]
            .iter()
            .position(|byte| *byte == 0);
        let Some(end) = found.map(|at| at + self.searched) else {
            self.searched = self.buffer.len();
            return None;
        };
        let rest = self.buffer.split_off(end + 1);
        let mut message = std::mem::replace(&mut self.buffer, rest);
        message.pop();
        self.searched = 0;
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_cut_at_nul_wherever_the_pipe_cuts() {
        let mut frames = Frames::default();
        assert!(frames.extend(b"{\"a\""));
        assert_eq!(frames.next(), None);
        assert!(frames.extend(b":1}\0{}\0{"));
        assert_eq!(frames.next().as_deref(), Some(&b"{\"a\":1}"[..]));
        assert_eq!(frames.next().as_deref(), Some(&b"{}"[..]));
        assert_eq!(frames.next(), None);
    }

    #[test]
    fn a_message_beyond_the_limit_is_refused() {
        let mut frames = Frames::default();
        assert!(!frames.extend(&vec![b' '; MAX_MESSAGE + 1]));
    }

    #[test]
    fn replies_errors_and_events_are_told_apart() {
        let reply = decode(br#"{"id":7,"result":{"x":1}}"#);
        assert!(matches!(
            reply,
            Some(Incoming::Reply {
                id: 7,
                result: Ok(_)
            })
        ));
        let error = decode(br#"{"id":8,"error":{"message":"no"}}"#);
        assert!(matches!(error, Some(Incoming::Reply { result: Err(why), .. }) if why == "no"));
        let event = decode(br#"{"method":"A.b","sessionId":"s","params":{}}"#);
        assert!(matches!(event, Some(Incoming::Event(event)) if event.method == "A.b"));
        assert!(decode(b"[").is_none());
    }

    #[test]
    fn a_call_ends_with_nul_and_names_its_session() {
        let bytes = encode(3, "Page.enable", &json!({}), Some("s"));
        assert_eq!(bytes.last(), Some(&0));
        assert!(String::from_utf8_lossy(&bytes).contains("\"sessionId\":\"s\""));
    }
}
