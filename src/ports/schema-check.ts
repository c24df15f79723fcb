/** Checks values against JSON Schemas. */
export interface SchemaCheck {
  /**
   * Checks the arguments of a tool of a server.
   * @returns a description of the problem that names the property, for people. Undefined if there is none, or
   * if the schema itself is unusable: then the tool's server decides.
   */
  issueWith(schema: Readonly<Record<string, unknown>>, value: unknown): Promise<string | undefined>;
  /** The same, with the property as programs need it. Empty if the schema itself is unusable. */
  ofServer(schema: Readonly<Record<string, unknown>>, value: unknown): Promise<SchemaVerdict>;
  /** Checks the structured result of a tool of a server. */
  ofResult(schema: Readonly<Record<string, unknown>>, value: unknown): Promise<SchemaVerdict>;
  /**
   * Checks a value against a schema of a client, who may be up to no good: it takes limited time and memory. Never rejects.
   * @param owner tells the client from all others. Checks of one client do not hold up those of another.
   */
  ofClient(schema: Readonly<Record<string, unknown>>, value: unknown, owner: string): Promise<SchemaVerdict>;
}

/** Empty if the value fits. */
export interface SchemaVerdict {
  /** What is wrong with the value; it names the property, for people. */
  readonly issue?: string;
  /** The path of the property, such as `options.limit`. Absent if the value itself is wrong. */
  readonly field?: string;
  /** Why the schema cannot be used, for people. */
  readonly unusable?: string;
}
