import type { JSX } from 'preact'
import type { MessageDetails, MessageLink } from '../../../console/routes/mailbox.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { Icon } from '../../components/icons.tsx'

/** What a message is sent for: a link to follow, a code to type in. */
export function MessageActions({ message }: { readonly message: MessageDetails }): JSX.Element {
  const { code, links } = message
  const [main, ...others] = links
  return (
    <div class="mail-actions">
      {main && <MainLink link={main} />}
      {code !== undefined && (
        <section class="mail-action" aria-label="Code">
          <h3>Code</h3>
          <div class="row">
            <code class="mail-code">{code}</code>
            <CopyButton text={code} label="Copy code" />
          </div>
        </section>
      )}
      {others.length > 0 && <OtherLinks links={others} />}
    </div>
  )
}

function MainLink({ link }: { readonly link: MessageLink }): JSX.Element {
  return (
    <section class="mail-action wide" aria-label="Link">
      <h3>{link.label || 'Link'}</h3>
      <span class="mail-url mono" title={link.url}>
        {link.url}
      </span>
      <div class="row tight">
        {/* In this window: it leads back to the console, where whoever signed up goes on. */}
        <a class="button primary" href={link.url}>
          <Icon name="link" />
          Open link
        </a>
        <CopyButton text={link.url} label="Copy link" />
      </div>
    </section>
  )
}

function OtherLinks({ links }: { readonly links: readonly MessageLink[] }): JSX.Element {
  return (
    <details class="mail-links">
      <summary>{links.length === 1 ? '1 more link' : `${links.length} more links`}</summary>
      <ul>
        {links.map(({ url, label }) => (
          <li key={url} class="row tight">
            <span class="grow">
              {label !== '' && <span>{label} </span>}
              <span class="mail-url mono muted" title={url}>
                {url}
              </span>
            </span>
            <a class="button quiet small" href={url} aria-label={`Open ${label || url}`}>
              Open
            </a>
            <CopyButton text={url} />
          </li>
        ))}
      </ul>
    </details>
  )
}
