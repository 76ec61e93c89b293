//! The error in a line, and its answer.

use lore::protocol::{Code, ErrorBody};
use rmcp::model::{ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};

use super::id::id_in;

/// The error in a line.
#[derive(Debug)]
pub struct LineError {
    /// Id of the request, if it can be read.
    pub id: Option<RequestId>,
    /// The JSON of an id that no request may have, but an answer can repeat.
    pub odd_id: Option<String>,
    /// JSON-RPC error code.
    pub code: ErrorCode,
    /// The same error in the format of the other transports.
    pub body: ErrorBody,
}

impl LineError {
    /// Creates the error for a line that begins with `head`.
    #[must_use]
    pub fn of(head: &[u8], code: ErrorCode, body: ErrorBody) -> Self {
        Self {
            id: id_in(head),
            odd_id: None,
            code,
            body,
        }
    }

    /// Converts the error to a JSON-RPC answer, as JSON.
    ///
    /// # Errors
    /// Never: its parts are numbers and texts.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        let error = protocol_error(self.code, &self.body);
        match &self.odd_id {
            None => serde_json::to_vec(&ServerJsonRpcMessage::error(error, self.id.clone())),
            Some(id) => {
                let error = serde_json::to_string(&error)?;
                Ok(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#).into_bytes())
            }
        }
    }
}

/// Converts an error of the compact protocol to JSON-RPC.
#[must_use]
pub fn protocol_error(code: ErrorCode, body: &ErrorBody) -> ErrorData {
    let message = match &body.hint {
        Some(hint) => format!("{}. {hint}", body.message),
        None => body.message.clone(),
    };
    ErrorData::new(code, message, serde_json::to_value(body).ok())
}

/// Creates the error for a line that is not JSON.
pub fn not_json(line: &[u8], message: String) -> LineError {
    let body = ErrorBody::new(Code::InvalidInput, message)
        .hint("Each line is one JSON-RPC message in UTF-8.");
    LineError::of(line, ErrorCode::PARSE_ERROR, body)
}

/// Creates the error for JSON that is not a message.
pub fn invalid(id: Option<RequestId>, message: &str) -> LineError {
    LineError {
        id,
        odd_id: None,
        code: ErrorCode::INVALID_REQUEST,
        body: ErrorBody::new(Code::InvalidInput, message),
    }
}
