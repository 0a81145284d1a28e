/** Somebody outside who tells people from programs. */
export interface Captcha {
  /**
   * @param token what the page got when somebody had shown to be human.
   * @param ip the address that it came from.
   * @returns why it is refused; nothing where it is fine.
   * @throws where nobody can tell.
   */
  findReasons(token: string, ip: string): Promise<readonly string[]>
}

/** A CAPTCHA service: what is asked is the same everywhere, what the answers mean is not. */
export interface CaptchaService {
  readonly url: string
  /** Error codes that mean a wrong configuration: no token would be accepted. */
  readonly configurationErrors: readonly string[]
  /** Error codes of a failure inside the service: the token may be valid. */
  readonly providerFailures: readonly string[]
}
