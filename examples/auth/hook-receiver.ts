// What the auth server asks when its hooks are on: who may sign up, what is in a token, and how
// messages are sent. The signature of each request is checked before anything of it is believed.

import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'

const port = Number(process.env.PORT ?? 4100)
// The same as AUTH_HOOK_…_SECRETS of the server, without "v1,".
const webhook = new Webhook(process.env.HOOK_SECRET ?? 'whsec_b25seS1mb3ItdHJ5aW5nLXRoaXMtb3V0')

interface Question {
  readonly metadata: { readonly name: string }
  readonly user?: { readonly email: string }
  readonly claims?: Readonly<Record<string, unknown>>
  readonly email_data?: Readonly<Record<string, string>>
}

type Answer = (question: Question) => object

/** By `metadata.name`. To all others the answer is an empty object: nothing against it. */
const answers: Readonly<Record<string, Answer>> = {
  'before-user-created': ({ user }) =>
    user?.email.endsWith('@blocked.example')
      ? { error: { http_code: 403, message: 'Please use your address at work' } }
      : {},

  // Keep the claims that are there: the server insists on most of them.
  'customize-access-token': ({ claims }) => ({ claims: { ...claims, plan: 'gold' } }),

  'send-email': ({ user, email_data: mail = {} }) => {
    const query = new URLSearchParams({
      token: mail.token_hash ?? '',
      type: mail.email_action_type ?? '',
      redirect_to: mail.redirect_to ?? '',
    })
    // Your mail service comes here.
    console.log(`To ${user?.email}, code ${mail.token}: ${mail.site_url}/verify?${query}`)
    return {}
  },
}

const server = createServer(async (request, response) => {
  const body = await text(request)
  try {
    const headers = Object.entries(request.headers).map(([name, value]) => [name, `${value}`])
    const question = webhook.verify(body, Object.fromEntries(headers)) as Question
    const answer = answers[question.metadata.name]?.(question) ?? {}
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer))
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    response.writeHead(401).end()
  }
})

server.listen(port, () => console.log(`Listening on http://localhost:${port}/`))
