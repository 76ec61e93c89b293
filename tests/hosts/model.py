"""A scripted model: an HTTP server on loopback that speaks to each host as its model service would.

It serves, streaming or not, Anthropic's messages, OpenAI's responses and chat completions, and Gemini's contents. What it
answers comes from a script, and each request is kept, so that a test can look at what reached the model.
"""
import base64
import gzip
import json
import threading
import uuid
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# A prompt of a subagent contains this word; no other prompt does.
SUBTASK = "SUBTASK"
# Of agents that hosts run beside: for titles, and for their own memory.
SIDE = ["title generator", "managed memory extraction subagent"]
MODELS = ["scripted", "claude-sonnet-4-5", "claude-haiku-4-5", "gpt-5.5", "gemini-2.5-flash"]


def text(words, tokens=None):
    """An answer that ends a turn. `tokens`: how large the conversation is said to be."""
    return {"text": words, "calls": [], "tokens": tokens}


def call(tool, args, **more):
    """A call of a tool. `kind="custom"`: one whose argument is a text; `namespace`: Codex groups tools."""
    return {"text": "", "calls": [{"name": tool, "args": args, **more}], "tokens": None}


class Model:
    """The server and its script. `main` are the answers to the agent, `sub` those to its subagent, in their order; the
    last one repeats."""

    def __init__(self):
        self.lock = threading.Lock()
        self.requests, self.begun = [], 0
        # Texts that were answered.
        self.said = []
        self.answers, self.subtask_calls = {"main": [], "sub": []}, []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.model = self
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def play(self, main, sub=()):
        """Sets the script. From now on, the requests until now are not looked at."""
        with self.lock:
            self.answers = {"main": list(main), "sub": list(sub)}
            self.begun, self.subtask_calls = len(self.requests), []

    def seen(self, role):
        """The requests of the agent (`main`), of its subagent (`sub`), or for titles and the like (`side`)."""
        with self.lock:
            return [body for of, body in self.requests[self.begun:] if of == role]

    def answer(self, body):
        raw = json.dumps(body, ensure_ascii=False)
        with self.lock:
            role = self.role(body, raw)
            self.requests.append((role, body))
            left = self.answers.get(role)
            turn = (left.pop(0) if len(left) > 1 else left[0]) if left else text("A title")
            self.said.append(turn.get("text"))
            for one in turn["calls"]:
                one["id"] = "call_" + uuid.uuid4().hex[:20]
                one["args"] = filled(one["args"], raw)
                if SUBTASK in json.dumps(one["args"]):
                    self.subtask_calls.append(one["id"][5:])
        return turn

    def role(self, body, raw):
        if not body.get("tools") or any(words in raw for words in SIDE):
            return "side"
        # The agent's own requests contain the call that started the subagent.
        is_sub = self.subtask_calls and SUBTASK in raw and not any(one in raw for one in self.subtask_calls)
        return "sub" if is_sub else "main"


def filled(args, raw):
    """Puts the id of the subagent, which a tool returned, in the place of `{agent_id}`."""
    if "{agent_id}" not in json.dumps(args):
        return args
    found = raw.replace("\\", "").rsplit('"agent_id":"', 1)[-1].split('"', 1)[0]
    return json.loads(json.dumps(args).replace("{agent_id}", found))


def new_id(kind):
    return kind + "_" + uuid.uuid4().hex[:20]


def tokens_of(turn, body):
    return turn["tokens"] or max(1, len(json.dumps(body)) // 4)


# Each dialect returns a whole answer, and the server-sent events of the same answer.

def anthropic(turn, body):
    usage = {"input_tokens": tokens_of(turn, body), "output_tokens": 20, "cache_creation_input_tokens": 0,
             "cache_read_input_tokens": 0}
    blocks = [{"type": "text", "text": turn["text"]}] if turn["text"] else []
    blocks += [{"type": "tool_use", "id": "toolu_" + one["id"][5:], "name": one["name"], "input": one["args"]}
               for one in turn["calls"]]
    stop = "tool_use" if turn["calls"] else "end_turn"
    message = {"id": new_id("msg"), "type": "message", "role": "assistant", "model": body.get("model"),
               "content": blocks, "stop_reason": stop, "stop_sequence": None, "usage": usage}
    events = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
    for index, block in enumerate(blocks):
        is_text = block["type"] == "text"
        empty = {**block, **({"text": ""} if is_text else {"input": {}})}
        delta = ({"type": "text_delta", "text": block["text"]} if is_text else
                 {"type": "input_json_delta", "partial_json": json.dumps(block["input"])})
        events += [{"type": "content_block_start", "index": index, "content_block": empty},
                   {"type": "content_block_delta", "index": index, "delta": delta},
                   {"type": "content_block_stop", "index": index}]
    events += [{"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 20}},
               {"type": "message_stop"}]
    return message, [(event["type"], event) for event in events]


def responses(turn, body):
    tokens = tokens_of(turn, body)
    items = [response_call(one) for one in turn["calls"]]
    if turn["text"]:
        content = [{"type": "output_text", "text": turn["text"], "annotations": []}]
        items.insert(0, {"type": "message", "id": new_id("msg"), "role": "assistant", "status": "completed", "content": content})
    usage = {"input_tokens": tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": tokens + 20}
    whole = {"id": new_id("resp"), "object": "response", "created_at": 0, "status": "completed", "model": body.get("model"),
             "output": items, "parallel_tool_calls": True, "usage": usage}
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(items):
        place = {"output_index": index}
        started = {**item, "status": "in_progress", **({"content": []} if "content" in item else {})}
        events.append({"type": "response.output_item.added", **place, "item": started})
        if "content" in item:
            events.append({"type": "response.output_text.delta", **place, "item_id": item["id"], "content_index": 0,
                           "delta": turn["text"]})
        events.append({"type": "response.output_item.done", **place, "item": item})
    events.append({"type": "response.completed", "response": whole})
    return whole, [(event["type"], {**event, "sequence_number": n}) for n, event in enumerate(events)]


def response_call(one):
    item = {"call_id": one["id"], "name": one["name"], "status": "completed"}
    if one.get("kind") == "custom":
        return {"type": "custom_tool_call", "id": new_id("ctc"), "input": one["args"], **item}
    if "namespace" in one:
        item["namespace"] = one["namespace"]
    return {"type": "function_call", "id": new_id("fc"), "arguments": json.dumps(one["args"]), **item}


def chat(turn, body):
    tokens = tokens_of(turn, body)
    calls = [{"id": one["id"], "type": "function", "function": {"name": one["name"], "arguments": json.dumps(one["args"])}}
             for one in turn["calls"]]
    stop = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": tokens, "completion_tokens": 20, "total_tokens": tokens + 20}
    head = {"id": new_id("chatcmpl"), "created": 0, "model": body.get("model")}
    message = {"role": "assistant", "content": turn["text"] or None, **({"tool_calls": calls} if calls else {})}
    whole = {**head, "object": "chat.completion", "usage": usage,
             "choices": [{"index": 0, "message": message, "finish_reason": stop}]}
    chunk = {**head, "object": "chat.completion.chunk"}
    deltas = [{"role": "assistant", "content": turn["text"]}]
    deltas += [{"tool_calls": [{"index": index, **one}]} for index, one in enumerate(calls)]
    choices = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
    choices.append([{"index": 0, "delta": {}, "finish_reason": stop}])
    events = [{**chunk, "choices": choice} for choice in choices] + [{**chunk, "choices": [], "usage": usage}]
    return whole, [(None, event) for event in [*events, "[DONE]"]]


def gemini(turn, body):
    tokens = tokens_of(turn, body)
    parts = [{"text": turn["text"]}] if turn["text"] else []
    signature = base64.b64encode(b"scripted").decode()
    parts += [{"functionCall": {"id": one["id"], "name": one["name"], "args": one["args"]}, "thoughtSignature": signature}
              for one in turn["calls"]]
    usage = {"promptTokenCount": tokens, "candidatesTokenCount": 20, "totalTokenCount": tokens + 20}
    whole = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
             "modelVersion": "scripted", "responseId": uuid.uuid4().hex, "usageMetadata": usage}
    return whole, [(None, whole)]


DIALECTS = {"/messages": anthropic, "/responses": responses, "/chat/completions": chat, "enerateContent": gemini}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.reply(200, {})

    def do_GET(self):
        models = [{"id": name, "type": "model", "display_name": name, "object": "model", "name": "models/" + name}
                  for name in MODELS]
        is_list = self.path.split("?")[0].endswith("/models")
        self.reply(200 if is_list else 404, {"object": "list", "data": models, "has_more": False, "models": models})

    def do_POST(self):
        body = json.loads(self.body() or b"{}")
        path = self.path.split("?")[0]
        if path.endswith(("/count_tokens", ":countTokens")):
            count = max(1, len(json.dumps(body)) // 4)
            return self.reply(200, {"input_tokens": count, "totalTokens": count})
        dialect = next((dialect for end, dialect in DIALECTS.items() if path.endswith(end)), None)
        if dialect is None:
            return self.reply(404, {"error": {"type": "not_found_error", "message": "no such path here"}})
        whole, events = dialect(self.server.model.answer(body), body)
        if not (body.get("stream") or ":stream" in path):
            return self.reply(200, whole)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for name, event in events:
            data = event if isinstance(event, str) else json.dumps(event)
            named = f"event: {name}\n" if name else ""
            self.wfile.write(f"{named}data: {data}\n\n".encode())
        self.close_connection = True

    def body(self):
        data = b""
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        how = self.headers.get("content-encoding")
        return gzip.decompress(data) if how == "gzip" else zlib.decompress(data) if how == "deflate" else data

    def reply(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
