#!/bin/sh
# Walks through every operation of the contract with curl.
# Usage: walk.sh ADDRESS TOKEN
set -eu
api="${1:-http://127.0.0.1:8080}/api/v1"
token="$2"
file=$(mktemp)
trap 'rm -f "$file"' EXIT

# ask METHOD PATH [CURL OPTION...]: prints the answer; ends here when the service refuses.
ask() {
  method="$1"
  path="$2"
  shift 2
  curl --silent --show-error --fail-with-body --request "$method" --header "X-Service-Token: $token" "$@" "$api$path" || {
    echo >&2
    exit 1
  }
}
# send METHOD PATH JSON
send() {
  ask "$1" "$2" --header 'Content-Type: application/json' --data "$3"
}
# field NAME: the first value of that name in the answer that comes in.
field() {
  grep -o "\"$1\":\"\{0,1\}[^\",}]*" | head -n 1 | sed 's/^"[^"]*":"\{0,1\}//'
}

organization=$(send POST /organizations '{"name": "Acme Energy", "sectors": ["Energy"]}' | field organization)
echo "organization $organization: $(ask GET "/organizations/$organization" | field name)"

# People
users="/organizations/$organization/users"
user=$(send POST "$users/0" '{"email": "grace@acme.example"}' | field user)
send PUT "$users/$user" '{"role": "security_officer"}' > "$file"
echo "users: $(ask GET "$users" | field total)"
ask DELETE "$users/$user" > "$file"

# Threat blockers and their traffic; this one is created with the other format of bodies
blocker="{\"organization\": $organization, \"device_id\": \"gateway-1\", \"email\": \"soc@acme.example\", \"type\": \"series\", \"services\": []}"
ticket=$(ask POST /atb --form "data=$blocker;type=application/json" | field ticket)
echo '[{"timestamp": "2026-03-02T09:03:10Z", "status": 403, "action": "blocked"}]' > "$file"
ask POST "/atb/$ticket/traffic" --header 'Content-Type: application/json' \
  --header 'Content-Disposition: attachment; filename="access-log.json"' --data-binary "@$file" > /dev/null
echo "blockers: $(ask GET "/atb?organization=$organization" | field total)"
ask DELETE "/atb/$ticket" > "$file"

# Cloud defenses
echo "cloud defenses: $(ask GET /cloud-defender | field total)"

# VPN profiles
vpn=$(send POST /vpn "{\"organization\": $organization, \"email\": \"ada@acme.example\"}" | field vpn)
ask DELETE "/vpn/$vpn" > "$file"

# Security frameworks and evidence
frameworks="/organizations/$organization/security-frameworks"
framework=$(send POST "$frameworks" '{"title": "ISO 27001"}' | sed 's/.*"security_framework":{"id":\([0-9]*\).*/\1/')
send PUT "$frameworks/$framework" '{"security_frameworks": [{"id": "A.5.1", "title": "Policies"}]}' > "$file"
echo 'Policy, version 3' > "$file"
evidence=$(ask POST "$frameworks/$framework/documents/A.5.1" --header 'Content-Type: text/plain' \
  --header 'Content-Disposition: attachment; filename="policy.txt"' --data-binary "@$file")
echo "evidence: $(echo "$evidence" | field file_name)"
ask DELETE "$frameworks/$framework" > "$file"

# Assessments
assessments=$(ask GET '/assessments?limit=1')
if [ "$(echo "$assessments" | field total)" != 0 ]; then
  assessment=$(echo "$assessments" | sed 's/.*"data":\[{"id":\([0-9]*\).*/\1/')
  echo "assessment: $(ask GET "/assessments/$assessment" | field en)"
fi

# Notifications
seen=0 pages=0 total=1
while [ "$seen" -lt "$total" ]; do
  page=$(ask GET "/notifications?order=id&limit=2&offset=$seen")
  total=$(echo "$page" | field total)
  seen=$((seen + 2)) pages=$((pages + 1))
done
echo "notifications: $total on $pages pages"
newest=$(ask GET '/notifications?order=-id&limit=1' | sed 's/.*"data":\[{"id":\([0-9]*\).*/\1/')
ask PUT "/notifications/$newest" > "$file"

ask DELETE "/organizations/$organization" > "$file"
echo "removed: $(field name < "$file")"
