// A scope keeps an id, and compares it on whatever thread asks.
// error: type 'Account' does not conform to the 'Sendable' protocol
// mode 5: compiles
import Dowel

final class Account: Hashable {
    var number = 0
    static func == (one: Account, other: Account) -> Bool { one.number == other.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

struct AccountModule {
    private let scope = Scope()

    #if MENDED
    func component(account: Account) -> Int { scope.shared(for: account.number) { 1 } }
    #else
    func component(account: Account) -> Int { scope.shared(for: account) { 1 } }
    #endif
}
