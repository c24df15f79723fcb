/**
 * What stands before the paths of the agent that the page shows: `/agents/support` where the service has several and the
 * page was opened there, else nothing. It is the same in a worker of the page.
 */
export const agentBase: string = /^\/agents\/[^/]+/.exec(self.location.pathname)?.[0] ?? '';
