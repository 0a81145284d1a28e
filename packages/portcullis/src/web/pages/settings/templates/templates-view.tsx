import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { MailTemplate, MailTemplates } from '../../../../console/routes/settings.ts'
import { callApi } from '../../../api.ts'
import { Badge } from '../../../components/badge.tsx'
import { Card } from '../../../components/card.tsx'
import { Failure, Loading, Notice } from '../../../components/states.tsx'
import { type Tab, Tabs } from '../../../components/tabs.tsx'
import { useLoaded } from '../../../use-loaded.ts'
import { TestForm } from './test-form.tsx'

/** The email templates, rendered with example values. */
export function TemplatesView(): JSX.Element {
  const loaded = useLoaded(
    (signal) => callApi<MailTemplates>('/api/settings/templates', { signal }),
    [],
  )
  const [chosen, setChosen] = useState('confirmation')
  if (loaded.state === 'loading') return <Loading>Loading templates…</Loading>
  if (loaded.state === 'failed') return <Failure error={loaded.error} onRetry={loaded.reload} />
  const { sender, templates } = loaded.value
  const shown = templates.find(({ name }) => name === chosen) ?? templates[0]
  return (
    <>
      {sender === 'hook' && (
        <Notice tone="warn">
          A hook sends email (<code>AUTH_HOOK_SEND_EMAIL_URI</code>), so these templates are not
          used.
        </Notice>
      )}
      {sender === 'none' && (
        <Notice tone="warn">
          No mail server is configured, so no email is sent. Set <code>AUTH_SMTP_HOST</code>,{' '}
          <code>AUTH_SMTP_PORT</code> and <code>AUTH_SMTP_ADMIN_EMAIL</code>.
        </Notice>
      )}
      <div class="templates">
        <section class="card templates-list" aria-label="Templates">
          <ul>
            {templates.map((template) => (
              <li key={template.name}>
                <button
                  type="button"
                  aria-current={template === shown ? 'true' : undefined}
                  onClick={() => setChosen(template.name)}
                >
                  <span>{toTitle(template.name)}</span>
                  {!template.is_enabled && <Badge>off</Badge>}
                  {template.is_custom && (
                    <Badge tone={template.problem === undefined ? 'accent' : 'warn'}>custom</Badge>
                  )}
                </button>
              </li>
            ))}
          </ul>
        </section>
        {shown && <Template key={shown.name} template={shown} canSend={sender === 'smtp'} />}
      </div>
    </>
  )
}

/** Such as `Email change` for `email_change`. */
function toTitle(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/^mfa/, 'MFA')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

interface TemplateProps {
  readonly template: MailTemplate
  readonly canSend: boolean
}

type PartName = 'html' | 'text' | 'variables'

const parts: readonly Tab<PartName>[] = [
  { name: 'html', title: 'HTML' },
  { name: 'text', title: 'Plain text' },
  { name: 'variables', title: 'Variables' },
]

function Template({ template, canSend }: TemplateProps): JSX.Element {
  const { name, subject, problem, is_custom: isCustom } = template
  const [part, setPart] = useState<PartName>('html')
  return (
    <Card title={toTitle(name)} actions={canSend && <TestForm template={name} />}>
      <div class="stack">
        <dl class="settings-facts">
          <div>
            <dt>Subject</dt>
            <dd>{subject || <span class="muted">none</span>}</dd>
          </div>
          <div>
            <dt>Template</dt>
            <dd>{isCustom ? toVariable(name) : 'built-in'}</dd>
          </div>
        </dl>
        {problem !== undefined && (
          <Notice tone="warn" title="The configured template cannot be used.">
            {problem}. Its last valid copy or the built-in template is used instead.
          </Notice>
        )}
        <Tabs
          label="Parts of the template"
          class="templates-tabs"
          tabs={parts}
          shown={part}
          onShow={setPart}
        >
          <Part template={template} name={part} />
        </Tabs>
      </div>
    </Card>
  )
}

function toVariable(name: string): string {
  return `AUTH_MAILER_TEMPLATES_${name.toUpperCase()}`
}

function Part({
  template,
  name,
}: {
  readonly template: MailTemplate
  readonly name: PartName
}): JSX.Element {
  if (name === 'text') return <pre class="code-block">{template.text}</pre>
  if (name === 'variables') return <Variables template={template} />
  const path = `/api/settings/templates/${encodeURIComponent(template.name)}/html`
  return (
    <>
      {/* A template may come from another server: the sandbox blocks scripts and navigation. */}
      <iframe class="templates-frame" title="Preview of the message" sandbox="" src={path} />
      <p class="muted small">The values are examples. Links and external images are disabled.</p>
    </>
  )
}

function Variables({ template }: { readonly template: MailTemplate }): JSX.Element {
  return (
    <div class="table-frame">
      <table class="table">
        <caption class="hidden">Variables of the template</caption>
        <thead>
          <tr>
            <th scope="col">Variable</th>
            <th scope="col">Meaning</th>
            <th scope="col">Example</th>
          </tr>
        </thead>
        <tbody>
          {template.variables.map(({ name, meaning, example }) => (
            <tr key={name}>
              <td class="mono nowrap">{`{{ ${name} }}`}</td>
              <td>{meaning}</td>
              <td class="mono settings-value">{example}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
