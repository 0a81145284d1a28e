/** A CAPTCHA service: what is asked is the same everywhere, what the answers mean is not. */
export interface CaptchaService {
  readonly url: string
  /** Its words for a mistake of the operator: no token would be accepted. */
  readonly ourMistakes: readonly string[]
  /** Its words for a trouble of its own: the token may be good. */
  readonly itsTroubles: readonly string[]
}
