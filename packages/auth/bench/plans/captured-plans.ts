import { Client } from 'pg'

/** One execution of a statement as reported by PostgreSQL. */
export interface CapturedPlan {
  readonly statement: string
  readonly ms: number
  /** Pages of tables and indexes that were found in memory or read. */
  readonly buffers: number
  readonly indexes: readonly string[]
  /** Tables that were read by a sequential scan. */
  readonly scans: readonly string[]
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Subplan Name'?: string
  readonly 'Index Name'?: string
  readonly 'Relation Name'?: string
  readonly 'Actual Loops'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly PlanNode[]
}

/**
 * Makes the database send the plan of every statement as a notice to its connection, with the
 * actual values and the plan that was chosen, generic or custom.
 */
export async function reportPlans(databaseUrl: string): Promise<void> {
  const settings = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_buffers': 'on',
    // Reading the clock for every row would take longer than many statements.
    'auto_explain.log_timing': 'off',
    'auto_explain.log_format': 'json',
    'auto_explain.log_level': 'notice',
  }
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query("load 'auto_explain'")
    for (const [name, value] of Object.entries(settings)) {
      await client.query(
        `do $$ begin execute format('alter database %I set ${name} = ''${value}''', current_database()); end $$`,
      )
    }
  } finally {
    await client.end()
  }
}

/**
 * Collects the plans of all connections that this process opens from now on. The driver offers no
 * other way to find the statement that a notice belongs to.
 */
export function capturePlans(onPlan: (plan: CapturedPlan) => void): Disposable {
  const { connect, query } = Client.prototype
  const names = new WeakMap<Client, string>()
  Client.prototype.connect = function (this: Client, ...args: never[]) {
    this.on('notice', ({ message }) => {
      const [, ms, json] =
        /^duration: ([\d.]+) ms\s+plan:\s+(\{.*\})\s*$/s.exec(message ?? '') ?? []
      // The statement names of the driver end with a hash of the text.
      const statement = names.get(this)?.replace(/_[\da-f]{16}$/, '')
      if (ms === undefined || json === undefined || statement === undefined) return
      onPlan(toPlan(statement, Number(ms), JSON.parse(json)))
    })
    return Reflect.apply(connect, this, args)
  } as typeof connect
  Client.prototype.query = function (this: Client, ...args: never[]) {
    const { name } = Object(args[0])
    if (typeof name === 'string') names.set(this, name)
    else names.delete(this)
    return Reflect.apply(query, this, args)
  } as typeof query
  return {
    [Symbol.dispose]() {
      Object.assign(Client.prototype, { connect, query })
    },
  }
}

function toPlan(statement: string, ms: number, { Plan: root }: { readonly Plan: PlanNode }) {
  const nodes = listNodes(root).filter(({ 'Actual Loops': loops = 1 }) => loops > 0)
  const unique = (names: readonly (string | undefined)[]) =>
    [...new Set(names.filter((name) => name !== undefined))].toSorted()
  return {
    statement,
    ms,
    buffers: nodes.reduce((sum, node) => sum + countOwnBuffers(node), 0),
    indexes: unique(nodes.map((node) => node['Index Name'])),
    scans: unique(
      nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']),
    ),
  }
}

/**
 * Excludes the buffers of child nodes. Buffers of a common table expression are in its own nodes
 * and again in the node that scans it, and a writing one may not be executed by any other node.
 */
function countOwnBuffers(node: PlanNode): number {
  if (node['Node Type'] === 'CTE Scan') return 0
  const below = (node.Plans ?? []).filter((child) => !child['Subplan Name']?.startsWith('CTE '))
  return below.reduce((rest, child) => rest - countBuffers(child), countBuffers(node))
}

function countBuffers(node: PlanNode): number {
  return (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0)
}

function listNodes(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(listNodes)]
}
