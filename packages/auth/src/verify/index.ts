/** Verifies the access tokens of an auth server, in an API or a program that receives them. */
export {
  AuthUnavailableError,
  type Refusal,
  TokenError,
  type TokenErrorCode,
  toRefusal,
} from './errors.ts'
export type { ProofOptions, ReceivedRequest } from './proofs/options.ts'
export {
  createResourceMetadata,
  type ProtectedResource,
  type ResourceMetadata,
} from './resource-metadata.ts'
export type { RevocationOptions, RevocationState } from './revocations/options.ts'
export { type AccessTokenClaims, createVerifier, type Verifier } from './verifier.ts'
export type { VerifierOptions } from './verifier-options.ts'
