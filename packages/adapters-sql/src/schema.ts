import type { Generated } from 'kysely'

/**
 * The tables, as both databases have them: integers, text, JSON as text, times as UTC ISO-8601 text, flags as 0 or 1.
 * Columns are called as the fields of the API are; `…_folded` holds a text folded for comparison without case.
 */
export type Schema = {
  organization: {
    id: Generated<number>
    name: string
    name_folded: string
    description: string
    number_employees: number
    website: string
    logo: string
    sectors: string
    industries: string
    contacts: string
    domains: string
    ips: string
    infrastructure: string
    removed_at: string | null
  }
  user: {
    id: string
    username: string
    email: string
    email_folded: string
    first_name: string
    last_name: string
    locale: string
    /** What a search looks through: the folded names and address, apart from each other. */
    search_folded: string
  }
  member: {
    id: Generated<number>
    organization: number
    user: string
    role: string
    removed_at: string | null
  }
  invitation: {
    id: Generated<number>
    member: number
    invited_by: string
    /** The code itself, while its mail is owed. */
    code: string | null
    code_hash: string
    message_id: string
    created_at: string
    expires_at: string
    used_at: string | null
    /** When another code took its place. */
    replaced_at: Generated<string | null>
    attempts: number
    next_attempt_at: string
    lease_until: string | null
    sent_at: string | null
    given_up_at: string | null
    last_error: string | null
  }
  token: {
    id: Generated<number>
    user_id: string
    name: string
    prefix: string
    hash: string
    /** The secret before the last rotation, and until when it works. */
    previous_hash: Generated<string | null>
    previous_expires_at: Generated<string | null>
    access: string
    organizations: string | null
    created_at: string
    expires_at: string | null
    last_used_at: string | null
    revoked_at: string | null
  }
  threat_blocker: {
    id: Generated<number>
    organization: number
    atb_key: string
    type: string
    email: string
    plugin: string
    endpoint: string
    privateIP: string
    services: string
    device_id: string
    created_at: string
    removed_at: string | null
  }
  traffic_upload: {
    id: Generated<number>
    threat_blocker: number
    file_name: string
    size: number
    sha256: string
    received: string
    lines: number
    accepted: number
    rejected: number
    malicious: number
    from: string | null
    to: string | null
    format: string
    rejects: string
    /** The file that holds its bytes, compressed, and the size of that; null once they are given up. */
    raw_file: number | null
    raw_size: number | null
    found_later: Generated<number>
    /** Of those found later, how many nobody was told of. */
    untold: Generated<number>
    /** Until when somebody judges it again; null for nobody. */
    lease_until: string | null
    /** Version of the feeds that judged it, and marks on its malicious lines; null where that is not known. */
    judged_version: number | null
    malicious_lines: Uint8Array | null
  }
  traffic_slot: {
    threat_blocker: number
    /** Of five minutes, Unix seconds. */
    start: number
    total: number
    malicious: number
    found_later: Generated<number>
  }
  /** What the slots of each hour and each day (UTC) come to. */
  traffic_sum: {
    threat_blocker: number
    /** Length of the unit: 3,600 or 86,400. */
    seconds: number
    /** Unix seconds. */
    start: number
    total: number
    malicious: number
    found_later: number
  }
  threat: {
    id: Generated<number>
    threat_blocker: number
    kind: string
    value: string
    feed: string
    entry: string
    verdict: string
    snapshot: number
    requests: number
    found_later: Generated<number>
    first_seen: string
    last_seen: string
  }
  threat_feed: {
    name: string
    kind: string
    source: string
    created_at: string
    expires_at: string | null
    etag: string | null
    last_modified: string | null
    refreshed_at: string
    earliest_refresh_at: string | null
    next_refresh_at: string
    lease_until: string | null
    last_error: string | null
    unreadable: number
    samples: string
    /** The present snapshot. */
    snapshot: number
    file: number
    size: number
    sha256: string
    snapshot_at: string
    entries: number
    gained: number
  }
  /** One row: how often the snapshots that count have changed. */
  threat_feed_version: {
    version: number
    /** The version with which a feed last gained entries that speak against somebody. */
    gained_version: Generated<number>
  }
  cloud_defense: {
    id: Generated<number>
    organization: number
    email: string
    fqdn: string
    check: string
    endpoint: string
    services: string
  }
  vpn_profile: {
    id: Generated<number>
    organization: number
    created_at: string
    user_id: string
    email: string
    removed_at: string | null
  }
  security_framework: {
    id: Generated<number>
    organization: number
    title: string
    created_at: string
    removed_at: string | null
  }
  control: {
    framework: number
    id: string
    position: number
    /** Everything of the control but its id, frequency and evidences. */
    body: string
    frequency: string
    evidences: string
    /** When the last of the evidences was completed; null for none. */
    last_completed: string | null
    /** The due time of evidence that was told of last. */
    told: string | null
  }
  file: {
    id: Generated<number>
    staged_at: string
  }
  file_chunk: {
    file: number
    position: number
    bytes: Uint8Array
  }
  document: {
    file: number
    organization: number
    framework: number
    control: string
    name: string
    file_name: string
    content_type: string
    size: number
    sha256: string
  }
  assessment: {
    id: Generated<number>
    organization: number
    created_at: string
    score: number
    name: string
    description: string
    interviewed_user: string
    interviewed_user_folded: string
  }
  notification: {
    id: Generated<number>
    organization: number
    user: string
    title: string
    message: string
    type: string
    action: string
    read: number
    datetime: string
    icon: string
    extra: string
    key: string | null
  }
  event: {
    position: number
    type: string
    organization: number | null
    record: string
    user_id: string | null
    token: number | null
    request_id: string | null
    datetime: string
    changes: string
    details: string
    hash: string
  }
  /** One row: position and hash of the newest event. */
  audit_head: {
    position: number
    hash: string
  }
  answer: {
    /** Id of the seal that the answer is shut with. */
    id: string
    claimed_at: string
    /** Null from the claim to the answer, which are one unit. */
    sealed: Uint8Array | null
  }
  counter: {
    name: string
    /** Unix milliseconds. */
    start: number
    count: number
  }
}
