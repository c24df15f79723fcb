/** Checks tool arguments against a JSON Schema. */
export interface SchemaCheck {
  /**
   * @returns what is wrong, for people, naming the property; undefined when nothing is, or when the schema
   * itself cannot be used (the tool's server then has the last word).
   */
  issueWith(schema: Readonly<Record<string, unknown>>, value: unknown): Promise<string | undefined>;
}
