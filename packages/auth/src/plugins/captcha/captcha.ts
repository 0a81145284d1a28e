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
