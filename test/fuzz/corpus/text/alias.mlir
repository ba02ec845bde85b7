#a = [1]
#b = [#a]
module attributes {x = #b} {}
