import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { yaml, yamlLanguage } from '@codemirror/lang-yaml'
import type { EditorState, Extension } from '@codemirror/state'
import { hoverTooltip } from '@codemirror/view'
import { type FieldFacts, findSchemas, type JsonSchema, toFieldFacts } from './json-schema.ts'
import { findCursor, type YamlCursor } from './yaml-cursor.ts'

/** YAML with completion and hover texts from a JSON Schema. */
export function createYamlLanguage(schema: JsonSchema): Extension {
  return [
    yaml(),
    yamlLanguage.data.of({
      autocomplete: (context: CompletionContext) => complete(schema, context),
    }),
    hoverTooltip((view, position) => {
      const field = findField(view.state, position)
      const schemas = field === undefined ? [] : findSchemas(schema, field.path)
      if (field === undefined || schemas.length === 0) return null
      return {
        pos: field.from,
        end: field.to,
        create: () => ({ dom: toInfo(field.path.at(-1) ?? '', toFieldFacts(schemas)) }),
      }
    }),
  ]
}

export function complete(schema: JsonSchema, context: CompletionContext): CompletionResult | null {
  const { state, pos, explicit } = context
  const cursor = cursorAt(state, pos)
  if (cursor === undefined || (cursor.word === '' && !explicit)) return null
  const options =
    cursor.key === undefined ? completeKey(schema, cursor) : completeValue(schema, cursor)
  if (options.length === 0) return null
  return { from: pos - cursor.word.length, options, validFor: /^[\w-]*$/ }
}

function cursorAt(state: EditorState, position: number): YamlCursor | undefined {
  const line = state.doc.lineAt(position)
  return findCursor(state.doc.toString().split('\n'), line.number - 1, position - line.from)
}

function completeKey(schema: JsonSchema, cursor: YamlCursor): Completion[] {
  const schemas = findSchemas(schema, cursor.path)
  const names = new Set(schemas.flatMap(({ properties }) => Object.keys(properties ?? {})))
  const required = new Set(schemas.flatMap((each) => each.required ?? []))
  return [...names]
    .filter((name) => !cursor.siblings.has(name))
    .map((name) => {
      const facts = toFieldFacts(findSchemas(schema, [...cursor.path, name]))
      return {
        label: name,
        apply: `${name}:${toValueStart(facts, cursor)}`,
        detail: required.has(name) ? `${facts.type}, required` : facts.type,
        info: () => toInfo(name, facts),
        boost: required.has(name) ? 1 : 0,
      }
    })
}

/** A map or list continues on the next line. */
function toValueStart({ type }: FieldFacts, { column }: YamlCursor): string {
  const indent = `\n${' '.repeat(column + 2)}`
  if (type === 'object') return indent
  return type === 'array' ? `${indent}- ` : ' '
}

function completeValue(schema: JsonSchema, { path, key = '' }: YamlCursor): Completion[] {
  const facts = toFieldFacts(findSchemas(schema, [...path, key]))
  const values = facts.values.length > 0 ? facts.values : [facts.fallback ?? []].flat()
  return values.map((label) => ({
    label,
    ...(label === facts.fallback && { detail: 'default' }),
  }))
}

interface Field {
  readonly path: readonly string[]
  readonly from: number
  readonly to: number
}

/** Finds the key at a position. */
function findField(state: EditorState, position: number): Field | undefined {
  const line = state.doc.lineAt(position)
  const column = position - line.from
  const start = /[\w-]*$/.exec(line.text.slice(0, column))?.index ?? column
  const end = column + (/^[\w-]*/.exec(line.text.slice(column))?.[0].length ?? 0)
  if (start === end || !/^\s*:/.test(line.text.slice(end))) return undefined
  const cursor = cursorAt(state, line.from + end)
  if (cursor === undefined || cursor.key !== undefined) return undefined
  const name = line.text.slice(start, end)
  return { path: [...cursor.path, name], from: line.from + start, to: line.from + end }
}

function toInfo(name: string, facts: FieldFacts): HTMLElement {
  const box = document.createElement('div')
  box.className = 'cm-schema-info'
  const code = document.createElement('code')
  code.textContent = `${name}: ${facts.values.length > 0 ? facts.values.join(' | ') : facts.type}`
  box.append(code)
  const notes = [
    facts.description,
    facts.range === undefined ? undefined : `Range: ${facts.range}.`,
    facts.fallback === undefined ? undefined : `Default: ${facts.fallback}.`,
  ]
  for (const note of notes) {
    if (note === undefined) continue
    const paragraph = document.createElement('p')
    paragraph.textContent = note
    box.append(paragraph)
  }
  return box
}
