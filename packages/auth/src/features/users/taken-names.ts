import { isTaken } from '../../db/violations.ts'
import { ApiError } from '../../errors.ts'

export function emailExists(): ApiError {
  return new ApiError('email_exists', 'A user with this email address has already been registered')
}

/** In the words of users who change their own, and of administrators. */
export const phoneTexts = {
  own: 'A user with this phone number has already been registered',
  admin: 'Phone number already registered by another user',
} as const

export function phoneExists(speaker: keyof typeof phoneTexts): ApiError {
  return new ApiError('phone_exists', phoneTexts[speaker])
}

/**
 * What the database says when somebody else has the address, number or id already, be it only since
 * we looked. Anything else stays what it is.
 */
export function toTakenError(error: unknown, speaker: keyof typeof phoneTexts): unknown {
  if (isTaken(error, 'users_email')) return emailExists()
  if (isTaken(error, 'users_phone')) return phoneExists(speaker)
  if (isTaken(error, 'users_pkey')) {
    return new ApiError('user_already_exists', 'A user with this ID has already been registered')
  }
  return error
}
