/** A public key as JWKS has it. */
export interface PublicKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly alg: 'EdDSA';
  readonly use: 'sig';
}

/** Signs notifications with one private key. */
export interface PushSigner {
  readonly publicKey: PublicKey;
  /** @returns the signature in base64. */
  sign(text: string): string;
}

/** Makes the keys that sign notifications. */
export interface PushKeys {
  /** @returns a new private key, as text that is a secret. */
  create(): string;
  /** @param privateKey as `create` returned it. */
  signer(privateKey: string): PushSigner;
}
