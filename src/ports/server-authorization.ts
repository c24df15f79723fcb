/** What an authorization server sends back with the browser of the person who was asked. */
export interface AuthorizationResponse {
  readonly state: string;
  readonly code?: string | undefined;
  /** The issuer, as RFC 9207 wants it. */
  readonly iss?: string | undefined;
  /** The code of an error, such as `access_denied`. */
  readonly error?: string | undefined;
}

export interface AuthorizationOutcome {
  /** The name of the tool server. */
  readonly server: string;
  /** For people, without secrets: why the service may not use the server. Null if it may. */
  readonly problem: string | null;
}

/** The permissions to use tool servers that ask for OAuth. */
export interface ServerAuthorizations {
  /** Says where authorization servers send browsers back to; null if this process has no page for them. */
  returnTo(redirectUrl: string | null): void;
  /** The address that a person must open before the server can be used; undefined if nobody is asked. */
  urlOf(server: string): string | undefined;
  /** Each `state` works once. @returns null if the `state` is unknown, used or too old. */
  finish(response: AuthorizationResponse): Promise<AuthorizationOutcome | null>;
  /** Erases all that was given for this server. */
  forget(server: string): Promise<void>;
  /** Erases all that was given for other servers than these. */
  keepOnly(servers: readonly string[]): Promise<void>;
}

/** Keeps a secret text for each tool server, over restarts. */
export interface CredentialStore {
  read(server: string): Promise<string | null>;
  /** Resolves when the text would survive a crash and its predecessor is erased. */
  keep(server: string, text: string): Promise<void>;
  forget(server: string): Promise<void>;
  /** Forgets all others. */
  keepOnly(servers: readonly string[]): Promise<void>;
}
