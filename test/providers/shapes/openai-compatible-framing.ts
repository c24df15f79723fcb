import { chunk, DONE, events, type ProviderShapes } from '../wire-shape.ts';

const SDK_TESTS = 'https://github.com/openai/openai-node/blob/master/tests/streaming.test.ts';

const plainReply = events(
  chunk({ role: 'assistant', content: 'Hi' }),
  chunk({ content: ' there' }),
  chunk({}, 'stop'),
  DONE,
);

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The word in three packets, broken inside of two of its letters. */
function brokenWord(): readonly Uint8Array[] {
  const event = bytes(events(chunk({ content: 'известни' }, 'stop'), DONE));
  const word = event.indexOf(0xd0);
  return [event.slice(0, word + 1), event.slice(word + 1, word + 5), event.slice(word + 5)];
}

/** A chunk without the field for the finish reason. */
function openPiece(content: string): object {
  return {
    id: 'chatcmpl-123',
    object: 'chat.completion.chunk',
    created: 1760000000,
    model: 'model',
    choices: [{ delta: { content }, index: 0 }],
  };
}

const BAD_GATEWAY = `<!DOCTYPE html>
<!--[if lt IE 7]> <html class="no-js ie6 oldie" lang="en-US"> <![endif]-->
<head>
<title>502: Bad gateway</title>
</head>
<body><div id="cf-wrapper"><h1>Bad gateway <span>Error code 502</span></h1></div></body>
</html>`;

export const openaiCompatibleFramingShapes: ProviderShapes = {
  provider: 'openai-compatible',
  api: 'chat',
  shapes: [
    {
      name: 'ends its lines with CRLF',
      source: 'https://github.com/farion1231/cc-switch/issues/1787',
      answer: { body: plainReply.replaceAll('\n', '\r\n') },
      expected: { text: 'Hi there' },
      sdk: 'agrees',
    },
    {
      name: 'ends its lines with CRLF, and packets end between the two',
      source: 'https://github.com/openai/openai-node/blob/master/src/internal/decoders/line.ts',
      answer: { body: plainReply.replaceAll('\n', '\r\n').split(/(?<=\r)/) },
      expected: { text: 'Hi there' },
      sdk: 'agrees',
    },
    {
      name: 'names its events completion',
      source: SDK_TESTS,
      answer: { body: plainReply.replaceAll('data: {', 'event: completion\ndata: {') },
      expected: { text: 'Hi there' },
      sdk: 'agrees',
    },
    {
      name: 'spreads one event over several data lines, some of them empty',
      source: SDK_TESTS,
      answer: {
        body: `data: {\ndata: "id": "chatcmpl-123", "object": "chat.completion.chunk", "created": 1760000000,\ndata:\ndata:\ndata: "model": "model", "choices":\ndata: [{"index": 0, "delta": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n`,
      },
      expected: { text: 'Hi' },
      sdk: 'agrees',
    },
    {
      name: 'breaks packets inside of letters',
      source: SDK_TESTS,
      answer: { body: brokenWord() },
      expected: { text: 'известни' },
      sdk: 'agrees',
    },
    {
      name: 'has a line separator of Unicode inside of the text',
      source: SDK_TESTS,
      answer: { body: events(chunk({ content: 'one\u2028two' }, 'stop'), DONE) },
      expected: { text: 'one\u2028two' },
      sdk: 'agrees',
    },
    {
      name: 'opens with a byte order mark',
      source: 'https://github.com/openai/openai-python/pull/3819',
      answer: { body: `\uFEFF${plainReply}` },
      expected: { text: 'Hi there' },
      sdk: 'agrees',
    },
    {
      name: 'sends the last event without its blank line',
      source: 'https://github.com/openai/openai-node/blob/master/src/core/streaming.ts',
      answer: {
        body: `${events(chunk({ content: 'Hi' }))}data: ${JSON.stringify(chunk({ content: ' there' }, 'stop'))}`,
      },
      expected: { text: 'Hi there' },
      sdk: 'agrees',
    },
    {
      name: 'names no content type',
      source: 'https://github.com/ktorio/ktor/pull/5836',
      answer: { headers: { 'content-type': '' }, body: plainReply },
      expected: { text: 'Hi there' },
      sdk: 'agrees',
    },
    {
      name: 'puts two blank lines between events and leaves the finish reason out',
      source: 'https://github.com/Mintplex-Labs/anything-llm/issues/1475',
      answer: {
        body: events(openPiece('Hello'), openPiece('!'), DONE).replaceAll('\n\n', '\n\n\n'),
      },
      expected: { text: 'Hello!' },
      sdk: { differs: 'it demands a finish reason' },
    },
    {
      name: 'answers with one JSON object that has no id',
      source: 'https://github.com/langgenius/dify/issues/2144',
      answer: {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          object: 'chat.completion',
          model: 'rwkv-5-h-world-1b5',
          usage: { prompt_tokens: 0, completion_tokens: 500, total_tokens: 500 },
          choices: [
            { message: { role: 'assistant', content: 'Hello there' }, index: 0, finish_reason: 'stop' },
          ],
        }),
      },
      expected: { text: 'Hello there', usage: { inputTokens: 0, outputTokens: 500 } },
      sdk: { differs: 'it looks for events and finds none' },
    },
    {
      name: 'sends events with empty data',
      source: 'https://github.com/coddy-project/coddy-agent/pull/106',
      answer: { body: `data: \n\n${plainReply.replace('data: [DONE]', 'data:\n\ndata: [DONE]')}` },
      expected: { text: 'Hi there' },
      sdk: { differs: 'it fails on data that is no JSON' },
    },
    {
      name: 'ends [DONE] with one line break only',
      source: 'https://github.com/huggingface/huggingface_hub/issues/2455',
      answer: { body: plainReply.replace('[DONE]\n\n', '[DONE]\n') },
      expected: { text: 'Hi there' },
      sdk: 'agrees',
    },
    {
      name: 'breaks packets inside of the JSON and says all in one chunk',
      source: 'https://github.com/Routstr/routstr-core/pull/543',
      answer: {
        body: [
          'data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1760000000,"model":"model","cho',
          'ices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"comp',
          'letion_tokens":1,"total_tokens":6}}\n\ndata: [DO',
          'NE]\n\n',
        ],
      },
      expected: { text: 'Hi', usage: { inputTokens: 5, outputTokens: 1 } },
      sdk: 'agrees',
    },
    {
      name: 'closes the stream before a finish reason',
      source: 'https://github.com/mozilla-ai/any-llm/pull/847',
      answer: { body: events(chunk({ role: 'assistant', content: 'Hi' }), chunk({ content: ' th' })) },
      expected: { failure: /complete|ended|closed/i, text: 'Hi th' },
      sdk: 'agrees',
    },
    {
      name: 'resets the connection before a finish reason',
      source: 'https://github.com/mozilla-ai/any-llm/pull/847',
      answer: {
        body: [events(chunk({ role: 'assistant', content: 'Hi' }), chunk({ content: ' th' }))],
        end: 'reset',
      },
      expected: { failure: /complete|ended|closed|reset|broke|connection/i, text: 'Hi th' },
      sdk: 'agrees',
    },
    {
      name: 'tells an error as a string in an event named error',
      source: 'https://github.com/octos-org/octos/issues/13',
      answer: {
        body: `${events(chunk({ role: 'assistant', content: 'Hi' }))}event: error\ndata: {"error":"Stream error: Internal Network Failure"}\n\n`,
      },
      expected: { failure: /trouble|later|network failure/i, text: 'Hi' },
      sdk: 'agrees',
    },
    {
      name: 'answers with an HTML page of a proxy and status 502',
      source: 'https://github.com/smallmain/vscode-unify-chat-provider/issues/59',
      answer: {
        status: 502,
        headers: { 'content-type': 'text/html; charset=UTF-8' },
        body: BAD_GATEWAY,
      },
      expected: { failure: /trouble|later|overloaded/i },
    },
    {
      name: 'answers with an HTML page and status 200',
      source: 'https://github.com/xtekky/gpt4free/issues/1049',
      answer: {
        headers: { 'content-type': 'text/html; charset=utf-8' },
        body: '<!DOCTYPE html>\n<html lang="en">\n<head><title>Sign in</title></head>\n<body></body>\n</html>\n',
      },
      expected: { failure: /html|web page|address|url|nothing|no reply|complete/i },
      sdk: 'agrees',
    },
    {
      name: 'tells the progress of tools in events with a name of their own',
      source: 'https://github.com/janhq/jan/pull/8392',
      answer: {
        body: `event: hermes.tool.progress\ndata: {"tool":"web_search","status":"running"}\n\n${plainReply}`,
      },
      expected: { text: 'Hi there' },
      sdk: { differs: 'it takes the progress for a chunk' },
    },
  ],
};
