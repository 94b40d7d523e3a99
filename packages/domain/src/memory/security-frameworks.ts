import { type Control, lastCompleted, type SecurityFramework } from '../security-frameworks/security-framework.ts'
import type { SecurityFrameworkStore } from '../security-frameworks/security-framework-store.ts'
import { compare, pageOf } from './page-of.ts'
import { copy, isActive, type SecurityFrameworkRow, type State } from './state.ts'

export function memorySecurityFrameworks(state: State): SecurityFrameworkStore {
  function active(): SecurityFrameworkRow[] {
    return [...state.securityFrameworks.values()].filter((row) => isActive(state, row))
  }
  function find(organization: number, id: number): SecurityFrameworkRow | undefined {
    const row = state.securityFrameworks.get(id)
    return row?.organization === organization && isActive(state, row) ? row : undefined
  }
  return {
    async insert(framework) {
      const id = state.nextId('securityFrameworks')
      state.securityFrameworks.set(id, copy({ id, ...framework, removed_at: null }))
      return id
    },

    async findActive(organization, id) {
      const row = find(organization, id)
      return row && toSecurityFramework(row)
    },

    async findControl(organization, id, control) {
      const found = controlOf(find(organization, id), control)
      return found && copy(found)
    },

    async controlsSize(id) {
      return sizeOf(state.securityFrameworks.get(id)?.security_frameworks ?? [])
    },

    async isActive(organization, id) {
      return find(organization, id) !== undefined
    },

    async listActive(organization, page) {
      const { total, data } = pageOf(
        active().filter((row) => row.organization === organization),
        page,
        ({ security_frameworks }) => sizeOf(security_frameworks),
      )
      return { total, data: data.map(toSecurityFramework) }
    },

    // Units of work run one at a time here, so that each holds every lock.
    async lock(organization, id) {
      return find(organization, id) !== undefined
    },

    async update({ id, title, security_frameworks }) {
      const row = state.securityFrameworks.get(id)
      if (!row) return
      const kept = new Set(security_frameworks.map((control) => control.id))
      // As what was told of a control goes with its row in SQL: one that comes back is a new one.
      for (const { id: control } of row.security_frameworks) {
        if (!kept.has(control)) state.toldDue.delete(toldKey(id, control))
      }
      state.securityFrameworks.set(id, { ...row, ...copy({ title, security_frameworks }) })
    },

    async setEvidences(id, control, evidences) {
      const row = state.securityFrameworks.get(id)
      if (!row) return
      const security_frameworks = row.security_frameworks.map((entry) =>
        entry.id === control ? { ...entry, evidences: copy(evidences) } : entry,
      )
      state.securityFrameworks.set(id, { ...row, security_frameworks })
    },

    async remove(organization, id, at) {
      const row = find(organization, id)
      if (!row) return false
      state.securityFrameworks.set(id, { ...row, removed_at: at })
      return true
    },

    async listScheduled(after, limit) {
      const scheduled = active().flatMap(({ id: framework, organization, title, created_at, security_frameworks }) =>
        security_frameworks
          .map((control, position) => ({ ...control, position }))
          .filter(({ frequency }) => frequency !== '')
          .map(({ id: control, position, frequency, evidences }) => ({
            organization,
            framework,
            title,
            control,
            position,
            frequency,
            since: lastCompleted(evidences) ?? created_at,
            told: state.toldDue.get(toldKey(framework, control)) ?? null,
          })),
      )
      return scheduled
        .filter(
          ({ framework, position }) =>
            framework > after.framework || (framework === after.framework && position > after.position),
        )
        .toSorted((a, b) => compare(a.framework, b.framework) || compare(a.position, b.position))
        .slice(0, limit)
    },

    async noteTold(framework, control, due) {
      const key = toldKey(framework, control)
      const told = state.toldDue.get(key)
      if (!controlOf(state.securityFrameworks.get(framework), control) || (told !== undefined && told >= due)) {
        return false
      }
      state.toldDue.set(key, due)
      return true
    },
  }
}

function controlOf(row: SecurityFrameworkRow | undefined, id: string): Control | undefined {
  return row?.security_frameworks.find((control) => control.id === id)
}

function sizeOf(controls: Control[]): number {
  return controls.reduce((sum, control) => sum + Buffer.byteLength(JSON.stringify(control)), 0)
}

function toldKey(framework: number, control: string): string {
  return `${framework}:${control}`
}

function toSecurityFramework({ id, title, security_frameworks }: SecurityFrameworkRow): SecurityFramework {
  return copy({ id, title, security_frameworks })
}
