import { isTaken } from '../../db/database-errors.ts'
import { ApiError } from '../../errors.ts'

export function emailExists(): ApiError {
  return new ApiError('email_exists', 'A user with this email address has already been registered')
}

/** The message for users who change their own number, and the one for administrators. */
const phoneTexts = {
  own: 'A user with this phone number has already been registered',
  admin: 'Phone number already registered by another user',
} as const

export function phoneExists(requester: keyof typeof phoneTexts): ApiError {
  return new ApiError('phone_exists', phoneTexts[requester])
}

/**
 * Converts the violation of a unique constraint on the address, phone number or ID. Returns other
 * errors unchanged.
 */
export function toTakenError(error: unknown, requester: keyof typeof phoneTexts): unknown {
  if (isTaken(error, 'users_email')) return emailExists()
  if (isTaken(error, 'users_phone')) return phoneExists(requester)
  if (isTaken(error, 'users_pkey')) {
    return new ApiError('user_already_exists', 'A user with this ID has already been registered')
  }
  return error
}
