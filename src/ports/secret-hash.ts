/**
 * A hash of random secrets. It may be fast: nobody can guess a secret of 160 random bits or more, however many guesses a
 * second there are. It does not suit passwords.
 */
export interface SecretHash {
  hash(secret: string): string;
  /** Whether the secret has this hash. Takes the same time for a wrong secret as for the right one. */
  matches(secret: string, hash: string): boolean;
}
