// Receives the hooks of the auth server: decides who can sign up, adds a claim to tokens, and sends
// messages. It verifies the signature of each request before it uses its content.

import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'

const port = Number(process.env.PORT ?? 4100)
// The value of AUTH_HOOK_…_SECRETS of the server, without "v1,".
const webhook = new Webhook(process.env.HOOK_SECRET ?? 'whsec_b25seS1mb3ItdHJ5aW5nLXRoaXMtb3V0')

interface HookRequest {
  readonly metadata: { readonly name: string }
  readonly user?: { readonly email: string }
  readonly claims?: Readonly<Record<string, unknown>>
  readonly email_data?: Readonly<Record<string, string>>
}

type Respond = (request: HookRequest) => object

/** By `metadata.name`. Other hooks get an empty object, which means no objection. */
const responders: Readonly<Record<string, Respond>> = {
  'before-user-created': ({ user }) =>
    user?.email.endsWith('@blocked.example')
      ? { error: { http_code: 403, message: 'Please use your address at work' } }
      : {},

  // Keep the existing claims, because the server requires most of them.
  'customize-access-token': ({ claims }) => ({ claims: { ...claims, plan: 'gold' } }),

  'send-email': ({ user, email_data: mail = {} }) => {
    const query = new URLSearchParams({
      token: mail.token_hash ?? '',
      type: mail.email_action_type ?? '',
      redirect_to: mail.redirect_to ?? '',
    })
    // Call your mail service here.
    console.log(`To ${user?.email}, code ${mail.token}: ${mail.site_url}/verify?${query}`)
    return {}
  },
}

const server = createServer(async (request, response) => {
  const body = await text(request)
  try {
    const headers = Object.entries(request.headers).map(([name, value]) => [name, `${value}`])
    const hook = webhook.verify(body, Object.fromEntries(headers)) as HookRequest
    const result = responders[hook.metadata.name]?.(hook) ?? {}
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(result))
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    response.writeHead(401).end()
  }
})

server.listen(port, () => console.log(`Listening on http://localhost:${port}/`))
