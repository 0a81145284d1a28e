import { toValueFault } from '@portcullis/service-kit/cli/argument-faults'

type Env = Readonly<Record<string, string | undefined>>

export const keyVariable = 'PORTCULLIS_AUTH_KEY'
/** DEBUG_TOKEN of a rate limit service on another machine. */
export const debugTokenVariable = 'PORTCULLIS_DEBUG_TOKEN'

/** @param name of the option or variable, for messages. @returns the URL as it is; undefined if it is invalid. */
export function parseServerUrl(name: string, text: string, faults: string[]): string | undefined {
  const url = URL.parse(text)
  const hasPassword = url === null ? text.includes('@') : url.username !== '' || url.password !== ''
  if (hasPassword) {
    // The message does not repeat the URL, because it contains a password.
    faults.push(`${name} must not contain a user name or password.`)
    return undefined
  }
  if (url === null || !/^https?:$/.test(url.protocol)) {
    faults.push(toValueFault(name, 'a URL such as http://localhost:8081', text))
    return undefined
  }
  if (url.search !== '' || url.hash !== '')
    faults.push(`${name} must not contain a query (?) or a fragment (#).`)
  return `${url.origin}${url.pathname}`
}

/** Like `parseServerUrl`, for a URL to which paths are appended. */
export function parseBaseUrl(name: string, text: string, faults: string[]): string | undefined {
  return parseServerUrl(name, text, faults)?.replace(/\/+$/, '')
}

/** Reads the key for `--auth-url`. Keys that are read from a file or pasted often end in a line break. */
export function readServiceKey(option: string | undefined, env: Env, faults: string[]): string {
  const key = (option ?? env[keyVariable])?.trim() ?? ''
  if (key === '') {
    faults.push(
      `--auth-url needs a service key of that server: set ${keyVariable}, or pass --auth-key.`,
    )
  } else {
    checkHeaderText('The service key', key, faults)
  }
  return key
}

export function readDebugToken(
  option: string | undefined,
  env: Env,
  faults: string[],
): string | undefined {
  const token = (option ?? env[debugTokenVariable])?.trim() || undefined
  if (token !== undefined) checkHeaderText('The debug token', token, faults)
  return token
}

/** Checked here because the error message of `fetch` would contain the secret. */
export function checkHeaderText(name: string, text: string, faults: string[]): void {
  if (!/^[\x21-\x7e]+$/.test(text)) {
    faults.push(`${name} contains a space, a line break or another invalid character.`)
  }
}
