/** Checks tool arguments against a JSON Schema. */
export interface SchemaCheck {
  /**
   * @returns a description of the problem that names the property, for people. Undefined if there is none, or
   * if the schema itself is unusable: then the tool's server decides.
   */
  issueWith(schema: Readonly<Record<string, unknown>>, value: unknown): Promise<string | undefined>;
}
