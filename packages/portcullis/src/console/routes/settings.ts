import type { EffectiveSetting } from '@portcullis/service-kit/settings/effective-settings'
import type { FastifyReply } from 'fastify'
import { frameHeaders, toFrameDocument } from '../../mailbox/frame-document.ts'
import { ConsoleError } from '../errors.ts'
import { serviceName, toTokenHeaders } from '../limits/statistics.ts'
import type { AddRoutes, AuthTarget, RatelimitTarget } from '../settings.ts'
import { callUpstream } from '../upstream.ts'
import { callAsAdmin, readJson } from './admin-endpoints.ts'

export type {
  EffectiveSetting,
  SettingSource,
} from '@portcullis/service-kit/settings/effective-settings'

export interface ServerSettings {
  readonly settings: readonly EffectiveSetting[]
}

/** A sign-in provider of the auth server. */
export interface ProviderSettings {
  readonly id: string
  readonly is_enabled: boolean
  /** The variables that have to be set. */
  readonly missing: readonly string[]
  readonly callback_url: string
  readonly client_ids: readonly string[]
}

export interface AuthSettings extends ServerSettings {
  readonly providers: readonly ProviderSettings[]
}

export interface TemplateVariable {
  readonly name: string
  readonly meaning: string
  readonly example: string
}

/** An email template, rendered with example values. Its HTML is served separately. */
export interface MailTemplate {
  readonly name: string
  readonly is_enabled: boolean
  readonly is_custom: boolean
  readonly problem?: string
  readonly subject: string
  readonly text: string
  readonly variables: readonly TemplateVariable[]
}

export interface MailTemplates {
  readonly sender: 'smtp' | 'hook' | 'none'
  readonly templates: readonly MailTemplate[]
}

type RenderedTemplate = MailTemplate & { readonly html: string }

const root = '/api/settings'

const testSchema = {
  body: {
    type: 'object',
    required: ['template', 'email'],
    properties: { template: { type: 'string' }, email: { type: 'string' } },
    additionalProperties: false,
  },
}

/** The routes of the Settings page. The servers leave out secrets, so no secret reaches this process. */
export const addRoutes: AddRoutes = (server, { auth, ratelimit, graphql }) => {
  if (graphql) {
    server.get(`${root}/graphql`, async (): Promise<ServerSettings> => {
      return { settings: graphql.settings ?? [] }
    })
  }
  if (ratelimit) {
    server.get(`${root}/ratelimit`, () => readRatelimitSettings(ratelimit))
  }
  if (auth) addAuthRoutes(server, auth)
}

function addAuthRoutes(server: Parameters<AddRoutes>[0], auth: AuthTarget): void {
  server.get(`${root}/auth`, () => readAdmin<AuthSettings>(auth, '/admin/settings'))
  server.get(`${root}/templates`, async (): Promise<MailTemplates> => {
    const { sender, templates } = await readTemplates(auth)
    return { sender, templates: templates.map(({ html: _, ...template }) => template) }
  })
  server.get<{ Params: { name: string } }>(
    `${root}/templates/:name/html`,
    async ({ params }, reply) => {
      const { templates } = await readTemplates(auth)
      const template = templates.find(({ name }) => name === params.name)
      if (template === undefined) {
        throw new ConsoleError(404, 'no_such_template', 'The template does not exist.')
      }
      reply.headers(frameHeaders).type('text/html; charset=utf-8')
      return reply.send(toFrameDocument({ html: template.html, attachments: [] }))
    },
  )
  server.post<{ Body: { template: string; email: string } }>(
    `${root}/templates/test`,
    { schema: testSchema },
    ({ body }, reply) => sendTest(auth, body, reply),
  )
}

interface RenderedTemplates extends Pick<MailTemplates, 'sender'> {
  readonly templates: readonly RenderedTemplate[]
}

function readTemplates(auth: AuthTarget): Promise<RenderedTemplates> {
  return readAdmin<RenderedTemplates>(auth, '/admin/mail-templates')
}

/** @throws {ConsoleError} if the server has no such endpoint. */
async function readAdmin<Body>(auth: AuthTarget, path: string): Promise<Body> {
  const answer = await callAsAdmin(auth, { method: 'GET', path })
  const text = await readJson(answer)
  if (answer.status === 200) return JSON.parse(text)
  const message =
    answer.status === 404
      ? 'This auth server does not report its settings. Supabase Auth has no endpoint for them.'
      : `The auth server responded to GET ${path} with status ${answer.status}. See its log.`
  throw new ConsoleError(502, 'no_settings', message)
}

/** Errors of the auth server, which may contain the message of the mail server, are forwarded unchanged. */
async function sendTest(auth: AuthTarget, body: object, reply: FastifyReply) {
  const path = '/admin/mail-templates/test'
  const answer = await callAsAdmin(auth, { method: 'POST', path, body })
  const retryAfter = answer.headers.get('retry-after')
  if (retryAfter !== null) reply.header('retry-after', retryAfter)
  return reply
    .code(answer.status)
    .type('application/json; charset=utf-8')
    .send(await readJson(answer))
}

/** envoyproxy/ratelimit answers unknown paths with a list of its pages, which is not JSON. */
async function readRatelimitSettings(target: RatelimitTarget): Promise<ServerSettings> {
  const answer = await callUpstream(serviceName, `${target.debugUrl}/settings`, {
    headers: toTokenHeaders(target),
  })
  const isJson = /^application\/json\b/.test(answer.headers.get('content-type') ?? '')
  if (answer.status === 200 && isJson) return (await answer.json()) as ServerSettings
  throw new ConsoleError(502, 'no_settings', answer.status === 403 ? noToken : noPage)
}

const noToken =
  'The debug port of the rate limit service shows its settings to other machines only with its DEBUG_TOKEN. Set PORTCULLIS_DEBUG_TOKEN to the value of DEBUG_TOKEN, and start portcullis again.'
const noPage =
  'This rate limit service does not report its settings. envoyproxy/ratelimit has no page for them.'
