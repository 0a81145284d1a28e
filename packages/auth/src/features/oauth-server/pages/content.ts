import type { Services } from '../../../services.ts'
import type { CallerRow } from '../../sessions/statements/sessions.ts'
import { toResources, toScopes, userScopes } from '../requested-access.ts'
import type { PendingRow } from '../statements/authorizations.ts'
import { type Html, html, type Page, toAlert, toPage, toServiceName } from './layout.ts'

export function toConsentPage(services: Services, request: PendingRow, person: CallerRow): Page {
  const name = toClientName(request)
  const account = person.email ?? (person.phone === null ? person.id : `+${person.phone}`)
  return toPage(
    services,
    `Allow ${name}`,
    html`<h1>Allow <strong>${name}</strong> to use your account at ${toServiceName(services)}?</h1>
<p>You are signed in as <strong>${account}</strong>. The application will be able to:</p>
<ul>${toScopes(request.scope).map(describeScope)}</ul>
${toResources(request.resource).map((url) => html`<p>It will use this access at <strong>${url}</strong>.</p>`)}
${toWarning(request)}
<form method="post">
<button class="main" name="step" value="approve">Allow</button>
<button name="step" value="deny">Cancel</button>
<button name="step" value="sign-out">Use another account</button>
</form>`,
  )
}

/** @param userCode filled in if the user has followed a link with the code. */
export function toDevicePage(
  services: Services,
  userCode: string,
  alert: string | undefined,
): Page {
  return toPage(
    services,
    'Connect a device',
    html`<h1>Connect a device</h1>
${toAlert(alert)}
<form method="post">
<label>The code on your device <input name="user_code" value="${userCode}" autocomplete="off"
autocapitalize="characters" maxlength="16" required autofocus></label>
<button class="main">Continue</button>
</form>`,
  )
}

export function toMessagePage(services: Services, title: string, message: string): Page {
  return toPage(services, title, html`<h1>${title}</h1><p>${message}</p>`)
}

/** For a request that cannot be processed, of a client that anyone could have registered. */
export function toLeavingPage(services: Services, location: string): Page {
  return toPage(
    services,
    'This request is not valid',
    html`<h1>This request is not valid</h1>
<p>The application that sent you here has made a mistake, or you have to sign in first. Continue only if you know
<strong>${toTarget(location)}</strong>.</p>
<p><a rel="noreferrer" href="${location}">Continue to ${toTarget(location)}</a></p>`,
  )
}

/** With a document, the host is what the client has proven. */
export function toClientName(request: PendingRow): string {
  const { client_name: name, client_id: id, metadata_url: url } = request
  if (url === null) return name === '' ? id : name
  const { host } = new URL(url)
  return name === '' ? host : `${name} (${host})`
}

function toWarning({ user_code: code, redirect_uri: uri }: PendingRow): Html {
  if (code === null) {
    return html`<p class="note">You will be sent to <strong>${toTarget(uri)}</strong>. Continue only if you
have just asked for this yourself.</p>`
  }
  return html`<p class="note">A device with the code <strong>${code.slice(0, 4)}-${code.slice(4)}</strong> gets this
access. Continue only if you have this device before you. If someone sent you the code, cancel.</p>`
}

function describeScope(scope: string): Html {
  const text = Object.hasOwn(userScopes, scope) ? userScopes[scope] : undefined
  return text === undefined
    ? html`<li>Use the permission <strong>${scope}</strong></li>`
    : html`<li>${text}</li>`
}

/** The name of a client can be invented; where its users are sent cannot. */
function toTarget(uri: string): string {
  const { protocol, host } = new URL(uri)
  return protocol === 'https:' ? host : `${protocol}//${host}`
}
