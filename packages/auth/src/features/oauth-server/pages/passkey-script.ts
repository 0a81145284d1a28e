import { createHash } from 'node:crypto'
import { Html, html } from './html.ts'

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

export const passkeyScriptHash = `'sha256-${createHash('sha256').update(script).digest('base64')}'`

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
export function toKeyForm({ step, challengeId, options, fields = {} }: KeyForm): Html {
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
