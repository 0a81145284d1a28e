import { Fragment, type JSX } from 'preact'
import type { EffectiveSetting, SettingSource } from '../../../console/routes/settings.ts'
import { Badge } from '../../components/badge.tsx'

interface SettingsTableProps {
  readonly settings: readonly EffectiveSetting[]
}

/** One row per setting, below the title of its chapter. */
export function SettingsTable({ settings }: SettingsTableProps): JSX.Element {
  return (
    <table class="settings-table">
      <caption class="hidden">Settings with their values and sources</caption>
      <thead>
        <tr>
          <th scope="col">Setting</th>
          <th scope="col">Value</th>
          <th scope="col">Source</th>
        </tr>
      </thead>
      <tbody>
        {settings.map((setting, index) => {
          const isFirst = setting.chapter !== settings[index - 1]?.chapter
          return (
            <Fragment key={setting.name}>
              {isFirst && (
                <tr class="settings-chapter">
                  <th scope="rowgroup" colSpan={3}>
                    {setting.chapter}
                  </th>
                </tr>
              )}
              <Row setting={setting} />
            </Fragment>
          )
        })}
      </tbody>
    </table>
  )
}

function Row({ setting }: { readonly setting: EffectiveSetting }): JSX.Element {
  const { name, help, is_changed: isChanged, default: byDefault, is_secret: isSecret } = setting
  return (
    <tr class={isChanged ? 'changed' : undefined}>
      <th scope="row">
        <span class="mono settings-name">{name}</span>
        {/* Descriptions are written for the manual, which is Markdown. */}
        <span class="settings-help">{help.replaceAll('`', '')}</span>
      </th>
      <td data-title="Value">
        <Value setting={setting} />
        {isChanged && !isSecret && (
          <span class="settings-help">
            Default: {byDefault === '' ? 'none' : <span class="mono">{byDefault}</span>}
          </span>
        )}
      </td>
      <td data-title="Source">
        <Source setting={setting} />
      </td>
    </tr>
  )
}

function Value({ setting }: { readonly setting: EffectiveSetting }): JSX.Element {
  const { value, is_secret: isSecret, is_set: isSet } = setting
  if (isSecret) return <Badge tone={isSet ? 'ok' : undefined}>{isSet ? 'set' : 'not set'}</Badge>
  if (value === null || value === '') return <span class="muted">empty</span>
  return <span class="mono settings-value">{value}</span>
}

const sources: Readonly<Record<SettingSource, string>> = {
  default: 'Default',
  argument: 'Command line',
  environment: 'Environment',
  file: 'File',
}

function Source({ setting }: { readonly setting: EffectiveSetting }): JSX.Element {
  const { source, file, set_as: setAs } = setting
  return (
    <>
      <Badge tone={source === 'default' ? undefined : 'accent'}>{sources[source]}</Badge>
      {file !== undefined && <span class="settings-help mono">{file}</span>}
      {setAs !== undefined && (
        <span class="settings-help">
          as <span class="mono">{setAs}</span>
        </span>
      )}
    </>
  )
}
