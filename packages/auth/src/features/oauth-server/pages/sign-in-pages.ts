import { createHash } from 'node:crypto'
import type { Services } from '../../../services.ts'
import type { PendingRow } from '../statements/authorizations.ts'
import { toClientName } from './content.ts'
import { Html, html, type Page, toAlert, toPage, toServiceName } from './layout.ts'

/** How users can sign in on the built-in page. */
export interface SignInMethods {
  readonly password: boolean
  readonly emailCode: boolean
  readonly passkey: boolean
  readonly providers: readonly { readonly id: string; readonly name: string }[]
}

/** @param alert why the last attempt failed. */
export function toSignInPage(
  services: Services,
  request: PendingRow,
  methods: SignInMethods,
  alert: string | undefined,
): Page {
  const { passkey, providers } = methods
  return toPage(
    services,
    'Sign in',
    html`<h1>Sign in to ${toServiceName(services)}</h1>
<p>to continue to <strong>${toClientName(request)}</strong></p>
${toAlert(alert)}
${toEmailForm(methods)}
<form method="post">
${passkey ? html`<button name="step" value="passkey-start">Use a passkey</button>` : undefined}
<button name="step" value="deny">Cancel</button>
</form>
${providers.map(toProviderForm)}`,
  )
}

function toEmailForm({ password, emailCode }: SignInMethods): Html | undefined {
  if (!password && !emailCode) return undefined
  const passwordField = html`<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button class="main" name="step" value="sign-in">Sign in</button>`
  // Without the password, the browser must not ask for it.
  const codeButton = html`<button name="step" value="send-code" formnovalidate>Get a code by email</button>`
  return html`<form method="post">
<label>Email address <input name="email" type="email" autocomplete="username" required autofocus></label>
${password ? passwordField : undefined}
${emailCode ? codeButton : undefined}
</form>`
}

function toProviderForm({ id, name }: SignInMethods['providers'][number]): Html {
  return html`<form method="post"><input type="hidden" name="provider" value="${id}">
<button name="step" value="provider">Continue with ${name}</button></form>`
}

/** Asks for the code that was sent by email. It is shown whether or not the address is known. */
export function toEmailCodePage(
  services: Services,
  email: string,
  alert: string | undefined,
): Page {
  return toPage(
    services,
    'Enter the code',
    html`<h1>Enter the code</h1>
<p>If <strong>${email}</strong> has an account here, you get an email with a code.</p>
${toAlert(alert)}
<form method="post">
<input type="hidden" name="email" value="${email}">
<label>Code <input name="code" inputmode="numeric" autocomplete="one-time-code" required autofocus></label>
<button class="main" name="step" value="email-code">Sign in</button>
<button name="step" value="back" formnovalidate>Use another method</button>
</form>`,
  )
}

/** @param keyForm of `toKeyForm`. */
export function toPasskeyPage(services: Services, ...form: Parameters<typeof toKeyForm>): Page {
  return toPage(
    services,
    'Use a passkey',
    html`<h1>Use a passkey</h1>
${toKeyForm(...form)}
<form method="post"><button name="step" value="back">Use another method</button></form>`,
    passkeyScriptHash,
  )
}

/** A second factor that the page can check. */
export interface OfferedFactor {
  readonly id: string
  readonly type: 'totp' | 'phone' | 'webauthn' | 'recovery_code'
  /** The end of the phone number, or the name that the user gave it. */
  readonly hint: string
}

export function toFactorPage(
  services: Services,
  factors: readonly OfferedFactor[],
  alert: string | undefined,
): Page {
  return toPage(
    services,
    'Second factor',
    html`<h1>Confirm that it is you</h1>
${toAlert(alert)}
${factors.length === 0 ? html`<p>Your second factor cannot be checked on this page.</p>` : undefined}
${factors.map(toFactorForm)}
<form method="post"><button name="step" value="sign-out">Use another account</button></form>`,
  )
}

function toFactorForm({ id, type, hint }: OfferedFactor): Html {
  if (type === 'totp') {
    return toCodeForm(id, '', `Code from your authenticator app${hint === '' ? '' : ` (${hint})`}`)
  }
  if (type === 'recovery_code') return toCodeForm(id, '', 'Recovery code')
  const text =
    type === 'phone' ? `Send a code to the number ending in ${hint}` : 'Use a security key'
  return html`<form method="post"><input type="hidden" name="factor_id" value="${id}">
<button name="step" value="factor-start">${text}</button></form>`
}

function toCodeForm(factorId: string, challengeId: string, label: string): Html {
  return html`<form method="post">
<input type="hidden" name="factor_id" value="${factorId}">
<input type="hidden" name="challenge_id" value="${challengeId}">
<label>${label} <input name="code" autocomplete="one-time-code" required></label>
<button class="main" name="step" value="factor">Continue</button>
</form>`
}

/** Asks for the code that was sent to the phone. */
export function toPhoneCodePage(
  services: Services,
  { id, hint }: OfferedFactor,
  challengeId: string,
  alert: string | undefined,
): Page {
  return toPage(
    services,
    'Enter the code',
    html`<h1>Confirm that it is you</h1>
${toAlert(alert)}
${toCodeForm(id, challengeId, `The code that was sent to the number ending in ${hint}`)}
<form method="post"><button name="step" value="back">Use another method</button></form>`,
  )
}

/**
 * The only script of the built-in pages: it asks the browser for a passkey or security key, and sends the form with the answer.
 * A policy allows it by its hash, so no other script can run.
 */
const script = `const form=document.querySelector('form[data-options]')
const status=document.querySelector('[role=status]')
const ask=async()=>{
status.textContent=''
try{
const publicKey=PublicKeyCredential.parseRequestOptionsFromJSON(JSON.parse(form.dataset.options))
const credential=await navigator.credentials.get({publicKey})
form.elements.credential.value=JSON.stringify(credential.toJSON())
form.submit()
}catch{status.textContent=form.dataset.failed}
}
document.querySelector('[data-ask]').addEventListener('click',ask)
ask()`

const passkeyScriptHash = `'sha256-${createHash('sha256').update(script).digest('base64')}'`

interface KeyForm {
  /** The step that handles the answer. */
  readonly step: string
  readonly challengeId: string
  /** Options for `navigator.credentials.get`. */
  readonly options: unknown
  /** Further hidden fields. */
  readonly fields?: Readonly<Record<string, string>>
}

/** The form that the script fills in, and the script. */
function toKeyForm({ step, challengeId, options, fields = {} }: KeyForm): Html {
  const hidden = Object.entries({ ...fields, step, challenge_id: challengeId, credential: '' })
  return html`<form method="post" data-options="${JSON.stringify(options)}"
data-failed="Your browser did not return a passkey. Try again, or go back and choose another method.">
${hidden.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button type="button" class="main" data-ask>Use your passkey or security key</button>
</form>
<p role="status"></p>
<noscript><p>Passkeys need JavaScript. Go back and choose another method.</p></noscript>
<script>${new Html(script)}</script>`
}
