// Signing in to a mobile app whose links open the app. This module has no platform-specific code.

import { GoTrueClient, type Provider, type Session, type SupportedStorage } from '@supabase/auth-js'

/** The URL that opens the app; AUTH_URI_ALLOW_LIST of the auth server contains it. */
export const callbackUrl = 'com.example.notes://auth/callback'

/** @param storage keeps the session and the PKCE verifier, in the secure storage of the device. */
export function createAuth(url: string, storage: SupportedStorage): GoTrueClient {
  return new GoTrueClient({
    url,
    storage,
    // A link contains a code. Only the app that requested the link has the verifier for it.
    flowType: 'pkce',
    // An app has no address bar: handleDeepLink receives the URL.
    detectSessionInUrl: false,
  })
}

/** Sends an email with a link that opens the app. */
export async function sendLink(auth: GoTrueClient, email: string): Promise<void> {
  const { error } = await auth.signInWithOtp({ email, options: { emailRedirectTo: callbackUrl } })
  if (error) throw error
}

/** @returns the URL to open in the system browser, never in a web view of the app. */
export async function startProvider(auth: GoTrueClient, provider: Provider): Promise<string> {
  const options = { redirectTo: callbackUrl, skipBrowserRedirect: true }
  const { data, error } = await auth.signInWithOAuth({ provider, options })
  if (error) throw error
  return data.url ?? ''
}

/**
 * Signs in with a URL that the system has opened the app with.
 * @returns undefined if the URL is not a sign-in.
 */
export async function handleDeepLink(
  auth: GoTrueClient,
  url: string,
): Promise<Session | undefined> {
  const [address = '', query] = url.split(/[?#]/)
  // Other apps and web pages can open the app with any URL.
  if (address !== callbackUrl) return undefined
  const parameters = new URLSearchParams(query)
  const failure = parameters.get('error_description')
  if (failure !== null) throw new Error(failure)
  const { data, error } = await auth.exchangeCodeForSession(parameters.get('code') ?? '')
  if (error) throw error
  return data.session
}
