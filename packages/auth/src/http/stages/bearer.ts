import { ApiError } from '../../errors.ts'
import { type Claims, TokenError, type TokenSigner } from '../../tokens/json-web-token.ts'

export const uuidPattern = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i

/** The claims of the access token in the header. @throws {ApiError} */
export function readBearer(
  authorization: string | undefined,
  signer: TokenSigner,
  nowMs: number,
): Claims {
  const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1]
  if (token === undefined) {
    throw new ApiError('no_authorization', 'This endpoint requires a valid Bearer token')
  }
  try {
    return signer.verify(token, Math.floor(nowMs / 1_000))
  } catch (error) {
    if (!(error instanceof TokenError)) throw error
    throw badToken(`invalid JWT: unable to parse or verify signature, ${error.message}`)
  }
}

export function badToken(message: string, status = 403): ApiError {
  return new ApiError('bad_jwt', message, { status })
}

/** Undefined where the claims name none. @throws {ApiError} */
export function readSessionId({ session_id: id }: Claims): string | undefined {
  if (id === undefined || id === '') return undefined
  if (typeof id === 'string' && uuidPattern.test(id)) return id
  throw badToken('invalid claim: session_id claim must be a UUID')
}
