/** What is another one now at a tool server: a list of what it offers, or the content of a resource. */
export type OfferChange =
  | { readonly kind: 'tools' | 'prompts' | 'resources'; readonly serverId: string }
  | { readonly kind: 'resource'; readonly serverId: string; readonly uri: string };
