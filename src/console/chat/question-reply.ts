/** What a person answers to the question of a tool server. */
export type QuestionReply =
  | { readonly action: 'accept'; readonly content?: unknown }
  | { readonly action: 'decline' };
