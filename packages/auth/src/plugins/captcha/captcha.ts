/** Checks CAPTCHA tokens with an external service. */
export interface Captcha {
  /**
   * @param token the CAPTCHA token that the page obtained.
   * @param ip the client's IP address.
   * @returns the reasons for refusing the token; empty when it is valid.
   * @throws when the service cannot be reached or does not decide.
   */
  findReasons(token: string, ip: string): Promise<readonly string[]>
}

/** A CAPTCHA service. All services take the same request, but their error codes differ. */
export interface CaptchaService {
  readonly url: string
  /** Error codes that mean a misconfiguration: every token would be refused. */
  readonly configurationErrors: readonly string[]
  /** Error codes for failures inside the service: the token may still be valid. */
  readonly providerFailures: readonly string[]
}
