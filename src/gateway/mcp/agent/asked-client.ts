/** What came of a question. `open`: the client leaves it to others. `unreadable`: nobody can tell what it has answered. */
export type Answered = 'answered' | 'open' | 'unreadable';
