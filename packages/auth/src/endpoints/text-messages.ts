import { ApiError } from '../errors.ts'

/** Where a text message would go out: there is no gateway yet. */
export function noTextMessages(): ApiError {
  return new ApiError(
    'sms_send_failed',
    'Error sending confirmation OTP to provider: this server cannot send text messages yet',
  )
}
