/** Of the tool that talks to the agent. It stands alone, because the tool itself is loaded with the first client. */
export const CHAT_TOOL_NAME = 'chat_with_agent';
