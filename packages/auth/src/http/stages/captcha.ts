import { ApiError } from '../../errors.ts'
import { findAdminRole, readBearer } from '../../features/sessions/bearer.ts'
import type { Services } from '../../services.ts'
import type { Call } from '../call.ts'
import type { Endpoint } from '../endpoint.ts'
import { Type } from '../schema.ts'

const token = Type.Optional(
  Type.String({ description: 'CAPTCHA token, if the server requires one' }),
)

/** The token is accepted at the top level of the body and where the Supabase client sends it. */
export const captchaFields = Type.Object({
  captcha_token: token,
  gotrue_meta_security: Type.Optional(Type.Object({ captcha_token: token })),
})

type CaptchaCall = Pick<Call, 'header' | 'client' | 'query'> & { readonly body: unknown }

/** @throws {ApiError} unless the CAPTCHA token is valid or the caller is an administrator. */
export async function checkCaptcha(
  endpoint: Endpoint,
  call: CaptchaCall,
  services: Services,
): Promise<void> {
  const isNeeded = endpoint.captcha === 'always' || endpoint.captcha?.(call.query)
  const { captcha } = services
  if (!isNeeded || captcha === undefined || (await isAdmin(call, services))) return
  const text = findToken(call.body)
  if (text === undefined) throw disallowed(['no captcha_token found'])
  let reasons: readonly string[]
  try {
    reasons = await captcha.findReasons(text, call.client.ip)
  } catch (cause) {
    throw new ApiError('unexpected_failure', 'captcha verification process failed', { cause })
  }
  if (reasons.length > 0) throw disallowed(reasons)
}

function disallowed(reasons: readonly string[]): ApiError {
  const message = `captcha protection: request disallowed (${reasons.join(', ')})`
  return new ApiError('captcha_failed', message)
}

/** Undefined if it is missing or blank. */
function findToken(body: unknown): string | undefined {
  const nested = readField(body, 'gotrue_meta_security')
  const places = [readField(body, 'captcha_token'), readField(nested, 'captcha_token')]
  const texts = places.map((value) => (typeof value === 'string' ? value.trim() : ''))
  return texts.find((text) => text !== '')
}

function readField(object: unknown, name: string): unknown {
  if (typeof object !== 'object' || object === null) return undefined
  return Object.entries(object).find(([key]) => key === name)?.[1]
}

/** Whether the access token is that of an administrator; an invalid one is not an error here. */
async function isAdmin({ header }: CaptchaCall, services: Services): Promise<boolean> {
  const authorization = header('authorization')
  if (authorization === undefined) return false
  try {
    const claims = readBearer(authorization, services.signer, services.now())
    await findAdminRole(claims, services)
    return true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}
