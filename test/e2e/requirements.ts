import { it, type TestContext } from 'vitest';

/**
 * What the interface promises, one line for each row of it. Each is verified by at least one test of this
 * folder, which is named by it. A run of the whole folder fails when no test of a requirement has passed
 * (test/support/project/requirements-reporter.ts).
 */
export const requirements = {
  // Starting
  'cli.mode-web': '`--mode web` serves REST, WebSocket and MCP',
  'cli.mode-mcp': '`--mode mcp` serves /mcp and the health probes alone',
  'cli.web-port': '`--web-port` sets the port; 0 picks a free one and says which',
  'cli.tool-servers': 'the start tells of each tool server whether it is up, as soon as that is known',
  'cli.port-taken': 'a port that is taken ends the start with a clear error and exit code 1',
  'cli.failed-start': 'a start that fails leaves no tool server running',
  'cli.agent': '`--agent` names the agent file; a bad one ends the start with file, line and key',
  'cli.example-tools':
    '`example-tools` serves what the agents of the package use: text, an image, structured content, a long operation',
  'cli.agents-run': 'each file in agents/ starts as it is',
  'cli.flags': 'a flag that is unknown, or has a value it cannot have, ends the start with exit code 1',
  'cli.help': '`--help` lists every option and `--version` prints the version, with exit code 0',
  'cli.unread': 'a command ends without a complaint when nobody reads on what it prints',
  'cli.bin': '`bin/agent-service.js`, the published command, does the same as `npm start`',
  'cli.bundle': 'the bundle that is published does what the sources do',
  'cli.other-node':
    'on a Node that cannot run the service, the published command runs it on the Node that npm brought',
  'cli.other-node-dies':
    'where the published command cannot replace its process, that process and the service end together, by any signal',
  'cli.stop': 'SIGTERM lets running turns finish, closes sockets with 1012 and exits with 0',
  'cli.agent-changed':
    'a change of the agent file while the service runs is said once in the log, and nothing is reloaded',
  'cli.stop-streams': 'a streamed reply that a stop cuts off ends with an error, and not as a complete one',
  'cli.stop-answers': 'a request that still waits for its answer when the service stops gets an error',
  'cli.stop-twice': 'a second signal ends the process at once',
  'cli.sessions': '`sessions` lists the sessions of a data directory as JSON Lines',
  'cli.url': '`sessions`, `export` and `replay` print the same of a running service as of its folder',
  'cli.in-use': 'what reads a log that a service uses says its address, and to ask it there',
  'cli.no-log': 'what reads a log says that there is none in a folder, and makes none',
  'cli.repair':
    '`repair` says what is lost and what it did; with `--dry-run` what it would do, and changes nothing',
  'cli.export': '`export` prints a session as JSON Lines, one envelope a line',
  'cli.backup':
    '`backup` copies the log of a running service, reads every event back, and a service starts on the copy',
  'cli.import':
    '`import` stores an exported session, which is then exported to the same bytes and goes on as before',
  'cli.import-open': 'a turn that is open in an imported session goes on at the next start',
  'cli.import-older': 'an export of an earlier version is imported and goes on',
  'log.0.1.0': 'a data directory of version 0.1.0 is opened, told and gone on with',
  'log.0.1.0-secrets':
    'a secret that version 0.1.0 kept in clear is, from the first start on, in no file of the data directory',
  'servers.secrets':
    'a secret of a server connected at run time is in no file, and what held it goes when it is removed',
  'log.0.1.0-replay': 'a session of version 0.1.0 replays without a difference',
  'log.0.1.0-export':
    'a session of version 0.1.0 is imported and exported in the format of today, and that replays, too',
  'cli.stdio': '`--mode mcp --transport stdio` speaks MCP on stdin and stdout',
  'readme.start': 'a start prints what the README shows',
  'docs.curl':
    'each curl command of README and docs runs as it stands there, and is answered as docs/protocol.md says',
  'docs.examples': 'each JavaScript example of README and docs runs as it stands there',

  // The log in PostgreSQL
  'postgres.restart':
    'with `--store`, a turn that a kill -9 cuts off goes on in the next service, which waits for the lease of the one before',
  'postgres.standby':
    'with `--standby` a service waits while another has the log, and goes on with its turns when that one is killed or stopped',
  'postgres.workload':
    'with `--store`, nothing is lost, repeated or told differently, however often the service is killed while clients talk',
  'postgres.paused':
    'a service that was paused while another one took its log over records nothing, shows nothing as recorded, and ends',
  'postgres.in-use': 'a second service on a database is refused while the first one lives, with its name',
  'postgres.away':
    'without its database, a message is 503 with Retry-After and /readyz says why; all goes on by itself afterwards',
  'postgres.copy':
    '`copy` moves a log into a database and back, again and again, and every session is the same',
  'postgres.commands': '`sessions`, `export`, `keys` and `audit` work on a database, also while it is used',

  // API keys
  'keys.create':
    '`keys create` prints the key alone on standard output; its secret is in no file, and the folder is private',
  'keys.manage': '`keys list` and `keys revoke` work on the data directory of a stopped service',
  'keys.refused': '`keys` says which option is wrong, with exit code 1, and makes nothing',
  'keys.in-use': '`keys` says to ask the service that uses the data directory',
  'keys.url': '`keys` with --url manages the keys of a running service',
  'keys.rest': 'POST, GET and DELETE /api/keys create, list and revoke the keys of the own tenant',
  'keys.off': 'without API keys, /api/keys is a path like any unknown one',

  // The terminal client
  'chat.script': '`agent-service chat` without a terminal prints the reply to each line of its input',
  'chat.session': '`chat --session` goes on with that conversation',
  'chat.interrupt': 'Ctrl-C cancels the running turn, a second one quits',
  'chat.approval':
    'without a terminal, a tool call that needs approval is denied, and no line of the input answers it',
  'chat.refused': 'without a service, `chat` says how to start one',

  // A new agent file
  'init.write': '`agent-service init` writes a commented agent file that starts, with the key as a $VARIABLE',
  'init.refused': '`init` writes over no file without --force, and says which flag is missing',
  'init.check': '`init --check` checks the agent that it has written, and ends as `check` does',

  // A check of the model
  'check.able':
    '`agent-service check` says with 5 small requests that key, model, streaming, tools, images and settings work',
  'check.messages': '`check` does the same over the Messages API',
  'check.json': '`check --json` prints one JSON object for programs, and no secret',
  'check.failed':
    'when the first request fails, `check` says what to change, makes no other and ends with exit code 1',
  'check.setting': '`check` names a setting that the provider refuses, with exit code 1',
  'check.unable': '`check` says what a model cannot do, and what to change, with exit code 0',
  'check.unknown': 'a later request without a reply leaves its check open, and `check` ends with exit code 1',
  'check.scripted': '`check` says that there is nothing to check of the scripted model',
  'check.interrupt': 'Ctrl-C ends the running request of `check` at once',

  // Messages
  'message-sync.reply': 'POST /api/message-sync answers 200 with success, response and timestamp',
  'message-sync.image': 'POST /api/message-sync passes imageData to the model',
  'message-sync.image-invalid':
    'imageData that is no base64, no image type or too large is refused with a clear error',
  'message-sync.missing': 'a missing message is 400 MISSING_FIELD and details.field names it',
  'message-sync.invalid': 'a message of another type, or an empty one, is 400 INVALID_REQUEST',
  'message-sync.failed': 'a failing model is 500 AGENT_ERROR with a reason to act on, without key or prompt',
  'message.processing': 'POST /api/message answers status processing; the reply comes as WebSocket events',
  'message.missing': 'POST /api/message without message is 400 MISSING_FIELD',
  'reset.initiated':
    'POST /api/reset, with or without a body, answers reset initiated and clears the history',
  'reset.running': 'a reset while a turn runs cancels that turn first',

  // Sessions
  'session.default': 'messages without a sessionId share the session default',
  'session.own': 'a sessionId in the body or ?session= on the WebSocket names a conversation of its own',
  'session.frames': 'a frame goes to the sockets of its session and to no other',
  'session.queue': 'messages to a busy session wait in order; sessions do not wait for each other',
  'session.queue-full': 'a message beyond the bound of the queue is 503 with Retry-After',
  'session.history': 'the history is what the model is shown at the next message',
  'session.restart': 'the history survives a restart',

  // Replay
  'replay.same':
    '`replay SESSION` runs a stored session again without an outbound call, up to the recorded state hash',
  'replay.live':
    '`replay --live` names the first seq where a changed agent does something else, and calls no tool',
  'replay.refused': 'what keeps a session from being replayed is told on one line, with exit code 1',

  // Turn control
  'control.cancel':
    'POST /api/sessions/{id}/cancel and a cancel frame end the running turn with TURN_CANCELLED',
  'control.cancel-model': 'a cancel aborts the model request at once',
  'control.cancel-tool': 'a cancel tells the running tools, and each call is paired with a result',
  'control.cancel-partial': 'what a cancelled turn had said stays in the history, marked as cut',
  'control.cancel-next': 'the message behind a cancelled turn is answered from a valid history',
  'control.cancel-idle': 'a cancel without a running turn changes nothing and says idle',
  'control.enqueue': 'whenBusy enqueue, the default, lets a message wait',
  'control.reject': 'whenBusy reject refuses a message to a busy session with 409 SESSION_BUSY',
  'control.interrupt': 'whenBusy interrupt cancels the running turn and starts',
  'control.default': 'sessions.whenBusy in the agent file is what a message that says nothing gets',

  // Tools that need a person's yes
  'approval.ask':
    'a call of a tool with policy ask is shown as toolApproval and is not run before it is approved',
  'approval.rest': 'a call is approved or denied by POST /api/sessions/{id}/approvals/{callId}',
  'approval.frame': 'a call is approved or denied by an approve or deny frame, the first answer counts',
  'approval.deny': 'a denied call is not run, and the model is told why',
  'approval.hash': 'an approval of other arguments is refused; what runs is what was shown',
  'approval.parallel': 'other calls of the step run while one waits',
  'approval.never': 'a tool with policy deny is not offered to the model and not run',
  'approval.refused': 'an answer to no waiting call is 404 APPROVAL_NOT_FOUND, a bad one 400 with its field',
  'approval.restart': 'a pending approval survives kill -9, and the call runs once when it is approved',
  'approval.cancel': 'a cancel ends a turn that waits for approval, its history paired',
  'approval.view':
    'the session shows what waits; a resuming client sees toolApproval and toolApproved in their place',
  'approval.list': 'GET /api/approvals lists the calls of all sessions that wait, oldest first',
  'approval.sessions': 'GET /api/sessions says how many calls wait in a session, and since when',
  'approval.queued':
    'who sends a message behind a turn that waits for approval is told which calls wait and how to decide',
  'approval.expires':
    'a call that nobody approves within approval.expiresAfterMs is denied with its own cause',
  'approval.stop': 'a stop does not wait for approvals',

  // Watching the machines
  'statecharts.now': 'GET /api/statecharts tells where each running machine is',
  'statecharts.live': 'as an event stream it tells the present first, then every transition up to the end',
  'statecharts.socket': 'a WebSocket that asks for it gets the states of all machines beside its session',
  'statecharts.session': 'with ?session= the turns of other sessions are left out',
  'statecharts.content': 'it holds no message content',

  // The XState inspector
  'inspect.present':
    'with --inspect, /inspect tells a late joiner of each machine, with its definition and where it is',
  'inspect.live': 'then every event and snapshot, as the inspector of @statelyai/inspect reads them',
  'inspect.redacted': 'contents of messages and tools are left out',
  'inspect.content': 'with --inspect-content they are there',
  'inspect.off': 'it is off by default',
  'inspect.local': 'it answers to this machine alone, or to a token',
  'inspect.admin': 'with `auth`, it shows an admin the machines of the tenant and of the tool servers',
  'inspect.gone': 'an inspector that goes away disturbs nobody',

  // The same message twice
  'idempotency.same': 'the same key with the same payload gets the stored answer, and no second model call',
  'idempotency.running': 'the same key while the first still runs gets the answer of that one turn',
  'idempotency.restart': 'keys are known after a restart',
  'idempotency.other': 'the same key with another payload is 422 IDEMPOTENCY_KEY_REUSED',
  'idempotency.failed': 'a turn that failed or was cancelled is answered again as it was',
  'idempotency.reset': 'a reset with a key is done once',
  'idempotency.socket': 'clientMessageId is the key of a WebSocket message',
  'idempotency.requests':
    'connect-server, reconnect, tool execution, fork, cancel and approvals take a key too: done once, and answered alike later',
  'idempotency.unknown':
    'what a kill cut off is done again where that is safe, and otherwise 409 OUTCOME_UNKNOWN',
  'idempotency.invalid': 'a key that cannot be one is 400 INVALID_REQUEST',

  // Sessions and their past
  'sessions.list': 'GET /api/sessions lists sessions in the order of their ids, in pages',
  'sessions.title': 'a session has a title: its first line, or the name that it was given; a fork keeps it',
  'sessions.title-older': 'sessions of logs without titles have the titles of their first messages',
  'sessions.rename':
    'PATCH /api/sessions/{id} renames a session; an empty title gives the first one back; a resuming client is told',
  'sessions.search': 'GET /api/sessions?query= finds ids and titles, in pages',
  'sessions.retention':
    'sessions.retentionDays deletes sessions whose last event is older, as a client would',
  'sessions.view': 'GET /api/sessions/{id} shows status, counts, timestamps and history',
  'sessions.large': 'a large session is shown in pieces, with the same bytes as in one',
  'sessions.at': '?at=SEQ shows the session as it was then',
  'sessions.snapshot':
    'a long session is the same with its snapshot and without, and the snapshot goes with it',
  'sessions.unknown': 'a session that is not there is 404 SESSION_NOT_FOUND',
  'sessions.generated':
    'a session whose id the service has made begins with a model call that does not wait for the log',
  'sessions.delete': 'DELETE /api/sessions/{id} cancels what runs, erases the session and frees the id',
  'sessions.fork': 'POST /api/sessions/{id}/fork begins a session with the past of another one',
  'sessions.fork-refused': 'a fork onto a session that exists, or at no moment of it, is refused',

  // After a crash
  'recovery.model': 'a turn killed in its model call goes on at the next start without a client asking',
  'recovery.tools':
    'of calls that were running at a kill those safe to repeat run again, others are interrupted; none settled runs twice',
  'recovery.boundaries': 'a crash at any boundary of the log loses, repeats and leaves open nothing',
  'recovery.workload':
    'kill -9 at random moments of a busy service loses nothing it acknowledged and does nothing twice',
  'recovery.repair':
    'a turn that a repair of the log cut ends with that cause, and the model is not called again',
  'recovery.full':
    'on a full disk a message is 503, what was acknowledged can be read, and open turns go on when there is space',
  'recovery.delete': 'a deletion that a kill cut off is finished at the next start',

  // MCP servers
  'servers.list': 'GET /api/mcp/servers lists servers with id, name, status, type and error',
  'servers.parallel': 'configured servers connect in parallel without holding up the start',
  'servers.connect':
    'POST /api/connect-server answers when connected with status, name, server and timestamp',
  'servers.connect-http': 'a server of type http is connected, by streamable HTTP or by SSE',
  'servers.connect-missing': 'a missing name, config, type, command or baseUrl is 400 MISSING_FIELD',
  'servers.connect-failed':
    'a server that cannot be connected is a clear error and stays listed with status error',
  'servers.name-taken': 'a name in use is 400',
  'servers.replaced': 'a server that never connected is replaced by another configuration of its name',
  'servers.crash': 'a crash is shown at once as error, and the server is connected again by itself',
  'servers.disconnect': 'DELETE /api/mcp/servers/{id} disconnects, and its process group is gone',
  'servers.reconnect': 'POST /api/mcp/servers/{id}/reconnect connects anew',
  'servers.restart':
    'a server connected at run time is connected again after a restart, a disconnected one is not',
  'servers.log':
    'GET /api/mcp/servers/{id}/logs has what a server logged, wrote and asked: bounded and without secrets',
  'servers.files': 'the file server that docs show reads and writes in its folder, and nowhere else',
  'servers.environment':
    'a server process gets an allow-listed environment and never the keys of the service',

  // Tools
  'tools.list': 'GET /api/mcp/servers/{id}/tools lists id, name, description and inputSchema',
  'tools.changed': 'tools that a server adds later are listed',
  'tools.execute':
    'POST …/tools/{name}/execute answers success, data, execution and timestamp; duration in ms',
  'tools.encoded': 'path parameters are percent-decoded',
  'tools.server-unknown': 'an unknown server is 404 SERVER_NOT_FOUND with details.serverId',
  'tools.tool-unknown': 'an unknown tool is 404 TOOL_NOT_FOUND',
  'tools.arguments': 'arguments that do not fit inputSchema are 400 INVALID_REQUEST with details.issue',
  'tools.failed':
    'a tool’s own failure, crash or time-out is 500 TOOL_EXECUTION_FAILED with toolName, serverId, reason',
  'tools.stream':
    'a tool run as an event stream tells its progress, and then its result or error; a refusal has its own status',
  'tools.stream-cancel': 'a client that leaves the stream cancels the request at the tool server',
  'tools.same-name': 'two servers may offer the same tool name, and the model can call both',

  // Configuration and health
  'config.yaml': 'GET /api/config.yaml gives YAML that the service loads again, variables unexpanded',
  'config.redacted': 'GET /api/config.yaml holds no secret',
  'health.report': 'GET /api/health answers status, version, uptime, agent and timestamp',
  'servers.oauth':
    'a server that answers 401 shows an address; a person who follows it connects the server, also for later starts',
  'servers.oauth-refused': '/oauth/callback says on a page why a server was not authorized',
  'servers.oauth-forgotten': 'DELETE /api/mcp/servers/{id} erases what authorization servers gave',
  'servers.oauth-secrets':
    'no token, code or client secret is in an answer, the export, a statechart or the log',
  'servers.oauth-conformance': 'the service passes every scenario of OAuth clients of the conformance suites',
  'servers.conformance': 'the service passes what each revision of MCP requires of clients besides OAuth',
  'servers.pasted': 'a tool server may be given as other MCP clients write it',
  'servers.disabled': 'a disabled server of the agent file is not connected, and is exported as it stands',
  'approval.unmatched':
    'an approval rule that matches no tool of a connected server is warned of in the log, once a change, and in /api/health',
  'agent.describe':
    'GET /api/agent answers name, description, model, prompt, tools and suggestions of the agent, and no secret',
  'agent.name': 'the name and description of the agent are in /api/health and in what an MCP client is told',
  'grants.read':
    'who gets a session for reading reads it and forks it, and is told why all else is forbidden',
  'grants.talk': 'who gets a session for talking sends messages, and nothing else; a grant gives no scope',
  'grants.keys':
    'in a shared session, the key of one principal is not that of another, and each is shown only its own',
  'grants.role': 'a session can be shared with a role, within its tenant',
  'grants.invalid': 'a grant that makes no sense is refused; without authentication there are none',
  'grants.revoked': 'when a grant is revoked, what is open by it ends at once, and the others go on',
  'grants.deleted': 'a session that is deleted is shared no more, nor is the next one of its name',
  'grants.deleted-late':
    'a session whose grants cannot be revoked is not deleted yet, and the next one of its name is not shared',
  'grants.restart': 'grants and their revocations survive a restart',
  'grants.list': 'shared sessions are in the list, page by page and by search',
  'client-limits.requests':
    'an authenticated client is limited with its principal and its tenant, not with its address',
  'client-limits.address': 'refused credentials and what nobody needs any for are limited by address',
  'client-limits.messages': 'the messages of a principal are limited over all protocols together',
  'client-limits.frames': 'a frame of a WebSocket counts as a request of its principal',
  'client-limits.connections':
    'the open WebSockets and event streams of a principal and a tenant are limited',
  'client-limits.sessions': 'the sessions of a principal and a tenant are limited, also after a restart',
  'client-limits.turns': 'the running turns of a principal and a tenant are limited',
  'client-limits.tickets': 'a principal cannot use up the tickets of all',
  'audit.entries':
    'the audit trail says who did what, from where and with which outcome, refusals too, and no content',
  'audit.command': '`audit` prints the trail of a folder, by time and principal, and nothing of a token',
  'audit.sockets': 'the audit trail says who listens to the session of somebody else, and who may not',
  'audit.killed':
    'the audit trail survives kill -9 from its last second on, and `audit` reads a running service',
  'audit.off': 'without authentication there is no audit trail',
  'agents.list': 'GET /api/agents lists the agents of the service, with the version of each file',
  'agents.choose': 'path, query or body say which agent a request is for; without them it is the first one',
  'agents.unknown': 'an agent that the service does not have is AGENT_NOT_FOUND, and nothing happens',
  'agents.apart': 'nothing of one agent is seen by clients of another',
  'agents.restart':
    'the sessions of each agent are there after a restart, in whichever order the agents are listed; those from before belong to the first; a start says whose nobody can reach',
  'agents.access': 'each agent keeps the rules of who may see what, and has an MCP endpoint of its own',
  'agents.recovered': 'a turn of any agent goes on after kill -9',
  'agents.reload':
    'an agent file that is read again counts for turns that begin later, and the log has the version of each turn',
  'agents.reload-invalid':
    'an agent file that is not valid changes nothing, and the error says what is wrong',
  'agents.reload-servers': 'a turn that runs keeps the tool servers with which it began',
  'agents.reload-signal':
    'SIGHUP reads all agent files again, and an invalid one keeps the others from nothing',
  'health.probe': 'GET /healthz answers in every mode',

  // WebSocket
  'ws.order': 'a turn is thinking, then chunks, calls and results, then one response or error',
  'ws.chunks':
    'the chunks of a turn concatenate to exactly its response, across steps, as message-sync returns it',
  'ws.tools': 'toolCall and toolResult carry callId, toolName, serverId, arguments and result or error',
  'ws.image': 'a message frame may carry an image',
  'ws.reset': 'a reset frame clears the history',
  'ws.error': 'a failing turn ends with an error event of code, message and details',
  'ws.bad-frame':
    'a frame that is no JSON, no object, binary or incomplete gets an error event and the socket stays',
  'ws.bad-type': 'a frame of another type gets INVALID_MESSAGE_TYPE',
  'ws.too-large': 'a frame that is too large gets RATE_LIMIT_EXCEEDED, and an image of 10 MB fits',
  'ws.watchers': 'all clients of a session get the same frames, byte for byte, while they are there',
  'ws.slow-reader': 'a client that does not read is bounded in memory and closed with a named code',
  'ws.gone': 'a client that goes away cancels nothing',

  // Streams that resume
  'stream.resumed': 'a client that resumes gets the resumed frame first, also when there is nothing',
  'stream.default': 'a client that does not ask for it sees only the frames of the plain interface',
  'stream.switch': 'there is no gap and no duplicate where the log ends and the live stream begins',
  'stream.late': 'who joins a running reply late gets its text so far as one chunk',
  'stream.offset': 'who has a part of the running text gets exactly the rest',
  'stream.own': 'a message names itself in its event, in its refusal, and when it was there before',
  'stream.cancel': 'what was streamed of a cancelled turn is in the log, and a waiting turn ends alone',
  'stream.page': 'GET /api/sessions/{id}/events pages through the log as JSON',
  'stream.sse': 'the same as server-sent events, with id, Last-Event-ID and retry',
  'stream.sse-time': 'server-sent events carry the time of each durable event if the client asks for it',
  'stream.slow': 'a slow reader is caught up from the log and misses nothing',
  'stream.stalled': 'a client that takes nothing of its stream is cut, and resumes like any other',
  'stream.killed': 'a client killed and resumed at random ends with exactly the log',
  'stream.client': 'the client of the package sends, asks and iterates across restarts of the service',
  'stream.client-refused':
    'the client of the package rejects with the error envelope when it is refused for good',
  'stream.client-platforms':
    'the client of the package runs on a Node without a WebSocket, with the package ws',
  'stream.command': 'a command with an id is answered with that id, done or refused',
  'stream.foresee': 'GET / says as JSON what a WebSocket handshake would be answered',

  // The model upstream
  'model.stream': 'an OpenAI-compatible upstream is streamed, with tools',
  'model.failures': 'upstream failures become AGENT_ERROR with details.reason',
  'model.reasoning': 'what a model thinks aloud is told to clients that asked for it, and never in a chunk',
  'model.reasoning-joined': 'a client that joins while the model thinks is told what it has thought so far',
  'model.reasoning-log':
    'what a model thinks aloud is in the log only with llm.keepReasoning, and never sent back',
  'model.reasoning-query': 'a `reasoning` that is neither 0 nor 1 is refused by its name',
  'model.history':
    'history.maxTokens bounds what the model is shown: the oldest turns go first, and each of them whole',
  'model.steps': 'a turn that never stops asking for tools ends at llm.maxSteps',

  // Errors, limits, access
  // Contracts
  'documents.served':
    '/openapi.json, /asyncapi.json and /docs describe the interface, for programs and for people',
  'documents.safe': '/docs runs no script and may ask no other host',
  'documents.cached': 'a document that has not changed is 304 to a client that has it',
  'documents.mcp': 'mcp mode serves no documents',
  'documents.rest-examples': 'each request in /openapi.json is answered as its example says',
  'documents.error-examples': 'each error in /openapi.json is answered as its example says',
  'documents.frame-examples': 'each frame in /asyncapi.json can be sent, or is received, as its example says',

  'errors.envelope': 'every REST error has success false, code, message, details and timestamp',
  'errors.json': 'malformed JSON is 400 INVALID_REQUEST',
  'errors.null': 'null for an optional field of a message is the same as leaving it out',
  'errors.misplaced':
    'a session or a field in the wrong place is INVALID_REQUEST, and the error says where it belongs',
  'errors.content-type': 'a wrong or missing Content-Type is 400 INVALID_REQUEST',
  'errors.unknown-path': 'an unknown path or method under /api is 400 INVALID_REQUEST',
  'limits.headers': 'every /api response carries X-RateLimit-Limit, -Remaining and -Reset',
  'limits.requests': 'the 101st REST request a minute and address is 429 with Retry-After and details',
  'limits.messages': 'the 51st WebSocket message a minute is an error event, and the connection stays',
  'limits.image':
    'an image of up to 10 MB is accepted, whatever its base64 takes, and 10 MB bound the rest of the message',
  'limits.size': 'a request of more than 10 MB is 429 and is read no further',
  'limits.stalled':
    'a client that stalls in the middle of a request or of its answer is cut after about ten seconds, and nobody else',
  'limits.connections': 'the 11th connection from one address is 429 at the handshake, also when 40 race',
  'limits.off': 'each limit can be switched off',
  'limits.proxy': 'X-Forwarded-For counts only from a trusted proxy',
  'access.host': 'a request with a foreign Host is refused',
  'access.origin': 'an upgrade or a state-changing request from a foreign Origin is refused',
  'framing.refused':
    'a request whose end is told in two ways, or in no known one, is 400 and its connection closed',
  'framing.chunked':
    'a chunked request is answered and its connection closed: nothing behind it is a request',
  'requests.nesting':
    'JSON of more than 200 levels is refused by each protocol, and nothing of it is recorded',
  'framing.large': 'a request may have 16 KB of headers',
  'framing.kept': 'requests with a length go on over one connection',
  'framing.pipelined': 'probes that are sent one behind the other, without waiting, are all answered',
  'framing.head': 'a HEAD has the headers of the GET and no body, and its connection goes on',
  'headers.nosniff':
    'every answer carries X-Content-Type-Options: nosniff; the page and /docs keep their policy',
  'access.none': 'no credential is asked for, unless a service file says so',
  // Access
  'auth.token':
    'with `auth`, a client shows who it is with a bearer token, a wrong one is 401 with the reason',
  'auth.open': 'with `auth`, only the probes, the page and what `auth.public` names are open',
  'auth.url': 'a token in a URL is refused, with the reason',
  'auth.ticket': 'POST /api/tickets gives a ticket for one socket or one event stream',
  'auth.revoked': 'a revoked credential ends its sockets with 4401 at once, and is refused from then on',
  'auth.expired-body': 'a request whose credential expires before its body is complete is refused with 401',
  'auth.expired': 'an expired credential ends its sockets and streams, unless `auth` frames renewed it',
  'auth.guess': 'who guesses is answered late, and nobody else',
  'auth.client':
    'the client gets a ticket with its token for each connection, and asks for a new token once the old one ended',
  'auth.sign-in':
    'GET /api/sign-in says how people sign in, and the page may reach that identity provider and no other',
  'auth.whoami': 'GET /api/whoami tells a client who it is and what it may do',
  'auth.commands': 'the commands that ask a running service send the key of --key or AGENT_SERVICE_KEY',
  'auth.tool-servers': 'the token of a client reaches no tool server',
  'auth.off-frame': 'without `auth`, a frame of that type is unsupported',
  'auth.isolation': 'nothing of one principal appears in any byte that another receives',
  'auth.not-found': 'what is somebody else’s is not found, in the same words as what nobody has',
  'auth.nobodys': 'sessions from before belong to nobody, and an admin of the default tenant sees them',
  'auth.matrix':
    'every operation, frame and MCP method wants the credential and the scope that its document names',
  'auth.exposure': 'without `auth`, other machines are only served with --insecure',
  'cors.off': 'no other origin is allowed by default',
  'cors.on': 'configured origins get CORS headers and preflight answers',

  // Operations
  'ops.ready': 'GET /readyz is 200 while the log can be written and the service is not stopping, else 503',
  'ops.metrics': 'GET /metrics shows what goes on in the text format of Prometheus, and as JSON',
  'ops.log-size': '/api/health and /metrics tell how large the log is: bytes on the disk, and events',
  'ops.samples':
    'GET /metrics/samples has the metrics of the last hour, the present included, and no rate limit',
  'ops.traces':
    'with a collector, turns, model calls and tool calls are sent to it as spans by OTLP over HTTP',
  'ops.traces-in': 'a turn is part of the trace that its request, handshake or MCP call names',
  'ops.traces-out': 'the model, HTTP tool servers and stdio tool servers are told of the span they work for',
  'ops.traces-off': 'without a collector, nothing of OpenTelemetry’s SDK is loaded',
  'ops.traces-lost':
    'a collector that is not there is told in the log, holds up no message, and a stop for seconds at most',
  'ops.log-ids': 'each line of the log that belongs to a session or a turn names it',
  'ops.log-secrets': 'no secret of the agent file or of connect-server is in the log, whatever goes wrong',
  'ops.healthcheck':
    'the health check of the container ends with 0 while the service is well, and otherwise with 1',
  'ops.dashboard': 'a running service shows each metric that the Grafana dashboard asks for, with its labels',
  'ops.unlimited': 'the probes and the metrics are in every mode, and no limit counts them',

  // A2A
  'a2a.card': 'the card says what the agent can and where it is, and is cached',
  'a2a.send':
    'the client of `@a2a-js/sdk` finds the agent by its card, and gets a message answered as a task',
  'a2a.repeated': 'a message that is sent twice in a context is one task',
  'a2a.stream': 'the SDK reads a task as it changes, and its reply character by character',
  'a2a.subscribe': 'a client that comes back gets the task as it is, and then the rest, without a gap',
  'a2a.restart': 'a task goes on after a restart, and is shown and streamed from the log',
  'a2a.approval': 'a task waits for an approval, and its client gives or refuses it, also after a restart',
  'a2a.questions':
    'a task waits for the answer to a question of a tool server, and its client gives it, in words or as data',
  'a2a.cancel': 'a task is cancelled, unless it has ended',
  'a2a.list': 'tasks are listed by context, state and time, page by page',
  'a2a.push': 'a receiver is told of a task, in order, with its token and its credentials',
  'a2a.push-configs':
    'configs for push notifications are created, shown, listed and deleted, and end with their task',
  'a2a.push-signature': 'a receiver checks the signature of a notification as the documents say',
  'a2a.push-retry': 'a notification is sent again with its id until it arrives, and not when it is refused',
  'a2a.push-restart': 'a receiver is told the rest after a restart, and can tell what it had',
  'a2a.push-secret':
    'the key of the service is replaced while receivers wait, and the former one is needed no more',
  'a2a.push-erased': 'a config is erased with its session',
  'a2a.push-address': 'no notification goes to a private address, or without TLS',
  'a2a.push-access': 'nobody adds a receiver to the task of somebody else, or sees one',
  'a2a.push-limits': 'a task has ten receivers at most',
  'a2a.push-unused': 'a service that nobody asks for notifications keeps nothing for them',
  'a2a.agents': 'each agent has a card and tasks of its own',
  'a2a.access': 'a client sees its own tasks alone, and the extended card',
  'a2a.errors': 'errors have the form of their binding, and name the field',

  // OpenAI's interface
  'openai.models': 'the agents are the models of /v1/models, and a request chooses one by its name',
  'openai.chat': '/v1/chat/completions answers the `openai` SDK with the reply and its tokens',
  'openai.stream': 'the `openai` SDK reads the streamed reply, character by character the same',
  'openai.given': 'the conversation that a client brings is recorded as it came, and the model gets it',
  'openai.session':
    'a client that names a session goes on in it, and what the session knows is not taken twice',
  'openai.settings': 'the settings of a request are those of its turn, and of no other',
  'openai.stop':
    'a client that goes away stops its reply, unless it has named the session or sent an idempotency key',
  'openai.errors': 'errors have OpenAI’s form, and name the field',
  'openai.key': 'a request that is repeated with its key is answered by the first one',
  'openai.expired-key': 'a key that has expired begins a session of its own',
  'openai.front-end': 'a front end has many chats, asks for titles, and has a reply written again',

  'openai.tools': 'an `openai` client runs its own tools, and the turn goes on with their results',
  'openai.tools-restart': 'a call of a tool of the client waits over a restart',
  'openai.tools-given':
    'results of tools that no session has asked for are part of the conversation that came',
  'openai.tools-refused': 'tools that cannot be are refused, with the field',
  'openai.responses': '/v1/responses answers the `openai` SDK, and shows what it answered',
  'openai.responses-stream':
    'the SDK reads the events of a response, each with its number, in the order of OpenAI',
  'openai.responses-resumed':
    'a response is read again from any event, with the same bytes, also after a restart',
  'openai.responses-follow': 'a response follows another one, and forks where that is not the newest',
  'openai.responses-conversation': 'a conversation is a session',
  'openai.conversations': 'the SDK makes, describes, shows and deletes a conversation, also after a restart',
  'openai.conversation-items':
    'the items of a conversation are those of its responses, in pages; items are added to it',
  'openai.conversation-errors': 'what cannot be a conversation or an item is refused, with the field',
  'openai.references': 'a request refers to items of earlier responses and conversations by their ids',
  'openai.responses-websocket':
    'the SDK asks for responses over one WebSocket, with the events of the stream',
  'openai.responses-websocket-errors': 'what cannot be is told over the socket, with the field',
  'openai.responses-websocket-left': 'a response ends with its client, and not with the service',
  'openai.stream-stopped':
    'the turn of a stream that a stop of the service has cut off goes on at the next start',
  'openai.responses-websocket-key': 'without a key, the socket is not opened',
  'openai.responses-background': 'a response goes on without its client, and is cancelled on request',
  'openai.responses-unstored': 'a response that is not to be stored leaves no session behind',
  'openai.responses-tools':
    'the SDK runs its own tools, also after a restart, and asks again with another result',
  'openai.responses-output': 'a response has the form of `text.format`; the SDK parses it',
  'openai.responses-reasoning': 'a response has the reasoning of the model if the client asks for it',
  'openai.responses-compact': 'a conversation is summarized, and goes on from the summary',
  'openai.responses-errors': 'what cannot be a response is refused, with the field',
  'openai.output': 'a reply has the form of `response_format`, or is an error; the SDK parses it',
  'output.schema': 'with `outputSchema` the reply is JSON that fits, asked for again once, and then an error',
  'client-tools.websocket': 'a page lends the agent its own functions over WebSocket',
  'questions.websocket':
    'what a tool server asks is shown to all clients of the session, listed, checked, and answered once',
  'questions.rest': 'the same over REST, and by the TypeScript client',
  'questions.model': 'a tool server asks the model and for roots, within its budget',
  'questions.outside': 'outside of a turn, a tool server is told its roots, and nothing else is answered',
  'client-tools.rest': 'the same over REST, with the result or with an error',

  'ag-ui.run':
    'POST /ag-ui runs the agent for the client of `@ag-ui/client`, which gets text, tools and steps',
  'ag-ui.reasoning': 'a run tells the reasoning of the model, and tells it again where the log has it',
  'ag-ui.input':
    'the model gets the thread, the instructions and the context of the input; its state comes back',
  'ag-ui.join': 'a page that brings nothing new gets the messages of the thread, and what happens in it',
  'ag-ui.again': 'a run that is asked for again is told again, and not done again',
  'ag-ui.restart': 'a run goes on after a restart of the service',
  'ag-ui.end': 'a run ends as its turn does: with an error, or cancelled',
  'ag-ui.interrupt': 'a run ends with an interrupt where a tool needs approval, and another one answers it',
  'ag-ui.questions':
    'a run ends with an interrupt where a tool server asks, and another one brings the answer',
  'ag-ui.client-tools': 'a run ends where a tool of the page is called, and another one brings the result',
  'ag-ui.refused': 'an input that cannot be run is refused, with the field',
  'ag-ui.access': 'a run is of one agent and of one client: its thread does not exist for others',

  // Several protocols
  'doors.one':
    'one conversation goes on over WebSocket, OpenAI’s interface, MCP, A2A and AG-UI, and each of them shows all of it',
  'doors.killed': 'a kill -9 at any step of such a conversation loses, repeats and changes nothing of it',

  // MCP endpoint
  'mcp.tools': '/mcp offers chat_with_agent and reset_conversation to the SDK’s client',
  'mcp.chat': 'chat_with_agent answers with the reply and sends progress while it streams',
  'mcp.repeated': 'a call of chat_with_agent that is repeated with its key says its message once',
  'mcp.sessions': 'each MCP session has a conversation of its own unless it names one',
  'mcp.cancel': 'cancelling a call cancels the turn',
  'mcp.resume':
    'a client of the older era that loses a stream gets the rest with Last-Event-ID, each event once, over restarts too',
  'mcp.resume-access': 'nobody resumes a stream of somebody else, or one that is not there',
  'mcp.resources': 'the agent card and its redacted configuration are resources',
  'mcp.access': '/mcp refuses foreign Host and Origin',
  'mcp.stateless': 'clients from 2026-07-28 on use /mcp and stdio without a session',
  'mcp.approval': 'an MCP client that can ask its user approves tool calls of its chat_with_agent',
  'mcp.questions': 'an MCP client that can ask its user is asked what tool servers ask',
  'mcp.tasks':
    'chat_with_agent is a task for clients that know tasks: polled, answered, cancelled, read from the log',
  'mcp.conformance': '/mcp passes the conformance scenarios that need no fixtures',
  'mcp.gateway':
    'tools, resources, templates, prompts and completions of tool servers pass through /mcp unharmed',
  'mcp.gateway-questions':
    'what a tool server asks while it works on a call reaches the client who made it, in both eras',
  'mcp.gateway-approval':
    'a tool that needs approval asks the client who calls it; a denied one is not offered',
  'mcp.gateway-changes': 'MCP clients hear of changed lists and changed resources of tool servers',
  'mcp.gateway-unwatched':
    'a resource of a tool server is watched until the last of its MCP clients unsubscribes, ends its subscription or leaves',
  'mcp.gateway-conformance':
    'with a tool server that has its fixtures, /mcp passes all required scenarios of both revisions',
  'mcp.agents': 'one instance calls another over /mcp',
} as const;

export type Requirement = keyof typeof requirements;

declare module 'vitest' {
  interface TaskMeta {
    requirement?: Requirement;
  }
}

type Test = (context: TestContext) => Promise<void>;

/** A test, named by the requirement that it verifies; `aspect` tells several tests of one requirement apart. */
export function verifies(requirement: Requirement, test: Test, timeoutMs?: number): void;
export function verifies(requirement: Requirement, aspect: string, test: Test, timeoutMs?: number): void;
export function verifies(requirement: Requirement, ...rest: (string | number | Test | undefined)[]): void {
  const aspect = rest.find((part) => typeof part === 'string');
  const test = rest.find((part) => typeof part === 'function');
  const timeout = rest.find((part) => typeof part === 'number');
  const title = requirements[requirement];
  it(
    aspect === undefined ? title : `${title}: ${aspect}`,
    { ...(timeout !== undefined && { timeout }), meta: { requirement } },
    test,
  );
}
